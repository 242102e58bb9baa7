// Mutate shows that the tests of the rules notice what they are for: it changes one
// thing in one rule, a threshold, a window, an offset, a comparison, an operation, a label or a
// "for", and wants promtool to fail.
//
//	cd dashboards/gen && go run ./mutate                  # all mutants; many minutes
//	go run ./mutate -only 'QuorumLost|NodeDown'           # those of some rules
//	go run ./mutate -list
//
// Mutants that no test can notice are named in equivalent.go, with the reason.
// Exit status: 0 if every other mutant was noticed, 1 if not, 2 wrong arguments.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"sync"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	lived, err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	case lived > 0:
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (lived int, err error) {
	set := flag.NewFlagSet("mutate", flag.ContinueOnError)
	only := set.String("only", "", "regexp of names of rules, or of mutants as they are listed")
	list := set.Bool("list", false, "list the mutants, and run nothing")
	tests := set.String("tests", "../tests", "folder of the tests")
	workers := set.Int("workers", 2, "how many to run at once")
	if err := set.Parse(args); err != nil {
		return 0, err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 0, err
	}
	files, err := rules.Files(config.Default())
	if err != nil {
		return 0, err
	}
	all, err := mutants(files)
	if err != nil {
		return 0, err
	}
	suites, err := ruletest.Load(*tests)
	if err != nil {
		return 0, err
	}
	var selected []mutant
	for _, m := range all {
		if chosen.MatchString(m.String()) && reason(m) == "" {
			selected = append(selected, m)
		}
	}
	if *list {
		for _, m := range selected {
			fmt.Fprintln(out, m)
		}
		return 0, nil
	}
	b := bench{files: files, suites: suites}
	if err := b.allSound(ctx, selected); err != nil {
		return 0, err
	}
	return try(ctx, selected, b, *workers, out)
}

// allSound tests the rules as they are: tests that fail on them notice anything.
func (b bench) allSound(ctx context.Context, selected []mutant) error {
	var errs []error
	seen := map[string]bool{}
	for _, m := range selected {
		if name := m.rule.Alert + m.rule.Record; !seen[name] {
			seen[name] = true
			errs = append(errs, b.sound(ctx, name))
		}
	}
	return errors.Join(errs...)
}

// try runs the mutants, some at once, and tells of those that live.
func try(ctx context.Context, selected []mutant, b bench, workers int, out io.Writer) (lived int, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	next := make(chan mutant)
	for range workers {
		group.Go(func() {
			for m := range next {
				noticed, failed := b.notices(ctx, m)
				mu.Lock()
				switch {
				case failed != nil:
					err = errors.Join(err, fmt.Errorf("%s: %w", m, failed))
				case !noticed:
					lived++
					fmt.Fprintln(out, "LIVES", m)
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range selected {
		next <- m
	}
	close(next)
	group.Wait()
	fmt.Fprintf(out, "%d mutants, %d live\n", len(selected), lived)
	return lived, err
}
