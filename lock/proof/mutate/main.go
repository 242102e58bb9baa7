// Command mutate asks of the tests what coverage cannot: whether they would notice a bug. It
// plants one at a time, in a lock or in what shows locks, and runs the one test that is said
// to fail then. A bug that the test does not notice has survived, and fails the gate.
//
//	go run ./lock/proof/mutate [-only regexp] [-jobs n] [-v]
//
// Nothing in the tree is changed: what differs is given to the compiler as an overlay. The
// exit status is 0 if every bug was killed, else 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"time"
)

func main() {
	if err := command(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// command is the whole program.
func command(args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ExitOnError)
	only := flags.String("only", "", "plant only bugs whose name, description, file or test matches this regexp")
	jobs := flags.Int("jobs", 2, "how many bugs are planted at a time")
	verbose := flags.Bool("v", false, "print what the tests said of each bug")
	_ = flags.Parse(args)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	all, err := readBugs(root)
	if err != nil {
		return err
	}
	chosen, err := choose(all, *only)
	if err != nil {
		return err
	}
	t, err := newTree(root)
	if err != nil {
		return err
	}
	defer t.close()
	began := time.Now()
	g := gate{tree: t, jobs: *jobs, limit: defaultLimit, progress: progress, verbose: *verbose}
	results := g.run(ctx, chosen)
	s := summary{results: results, took: time.Since(began)}
	s.text(out)
	return s.err()
}

// choose picks the bugs that match; it fails if none does.
func choose(all []bug, only string) (chosen []bug, err error) {
	pattern, err := regexp.Compile("(?i)" + only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	for _, b := range all {
		if slices.ContainsFunc([]string{b.name, b.what, b.file, b.killer.run}, pattern.MatchString) {
			chosen = append(chosen, b)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only: no bug matches %q", only)
	}
	return chosen, nil
}
