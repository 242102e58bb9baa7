// Command dist builds the files of a release of lockscope: archives, packages and a container image of the binary, a
// bill of materials for each binary, checksums and a signature. Two builds of one commit are equal, byte for byte.
// ../release/README.md has examples.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	root := flags.String("root", filepath.Join("..", ".."), "the root of the repository")
	to := flags.String("out", "", "the folder to write to, which is emptied first (default: dist in the root)")
	version := flags.String("version", "", "the version to build, as v0.1.0")
	targets := flags.String("platforms", strings.Join(everyPlatform, ","), "the platforms to build for")
	key := flags.String("key", "",
		"a file with the private key that signs SHA256SUMS (default: the key in $"+keyVariable+")")
	signers := flags.String("signers", "",
		"the file with the public key (default: "+signersFile+" in the root)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &release{version: *version, root: *root, out: *to, report: out}
	if r.out == "" {
		r.out = filepath.Join(*root, "dist")
	}
	s := signer{keyFile: *key, signers: *signers}
	if s.signers == "" {
		s.signers = filepath.Join(*root, filepath.FromSlash(signersFile))
	}
	return r.make(strings.Split(*targets, ","), s)
}
