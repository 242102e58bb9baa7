// Command audit examines what the released modules depend on.
//
//	go run . vuln              # known vulnerabilities, by govulncheck and the live database
//	go run . vuln -stored      # the same with the database that the Go module proxy serves
//	go run . licences          # writes .github/LICENCES.md anew
//	go run . texts             # prints the licences of what the binary is linked with, for its archives
//
// Each module is examined with the versions that somebody gets who requires it alone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// root is the root of the repository, from this folder.
const root = "../.."

var errUsage = errors.New("usage: audit vuln [-stored] [-db URL] [-module FOLDER] | licences | texts")

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	all, err := releasedModules(root)
	if err != nil {
		return err
	}
	switch args[0] {
	case "vuln":
		return runVuln(all, args[1:])
	case "licences":
		text, err := licenceTable(all)
		if err != nil {
			return err
		}
		return os.WriteFile(licenceFile, []byte(text), 0o644)
	case "texts":
		return licenceTexts(all, os.Stdout)
	}
	return errUsage
}

func runVuln(all []*examined, args []string) error {
	flags := flag.NewFlagSet("vuln", flag.ContinueOnError)
	stored := flags.Bool("stored", false, "use the database that the Go module proxy serves, "+vulndb)
	url := flags.String("db", "", "`URL` of another database (default https://vuln.go.dev)")
	only := flags.String("module", "", "`folder` of the only module to examine")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *stored {
		db, remove, err := storedDatabase()
		if err != nil {
			return err
		}
		defer remove()
		*url = db
	}
	return vulnerabilities(all, *only, *url)
}
