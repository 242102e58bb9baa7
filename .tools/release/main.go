// Command release prepares, checks and tags a release of the modules in release.work and contrib.work. README.md has
// the steps.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", filepath.Join("..", ".."), "the root of the repository")
	version := flags.String("version", "",
		"the version to release, as v0.2.0: every go.mod is made to require it of the others")
	proxy := flags.String("proxy", "",
		"write a module proxy of the tree to this folder instead; GOPROXY takes its file:// URL")
	tag := flags.Bool("tag", false, "tag HEAD as the version for every module instead: all tags or none")
	compared := flags.Bool("check", false,
		"compare what every module exports with its last tag instead, and fail where CHANGELOG.md allows no break")
	mods := flags.Bool("tidy", false, "run go mod tidy in every module of a release instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := modules(*root)
	if err != nil {
		return err
	}
	switch {
	case *mods:
		return tidy(all)
	case *compared:
		return check(all, out)
	case *tag:
		return tagAll(all, *version, out)
	case *proxy != "":
		return writeProxy(all, *proxy, *version, time.Now())
	}
	if err := setVersion(all, *version); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d modules require %s of each other. Run the tests, put the date into CHANGELOG.md, commit, "+
		"and run\n\ngo run . -version %[2]s -tag\n", len(all), *version)
	return nil
}
