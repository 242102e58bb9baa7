// Mutate shows that the tests of the rules notice what they are for: it changes one
// thing in one rule, a threshold, a window, an offset, a comparison, an operation, a label or a
// "for", and wants promtool to fail.
//
//	cd dashboards/gen && go run ./mutate                  # all mutants
//	go run ./mutate -only 'QuorumLost|NodeDown'           # those of some rules
//	go run ./mutate -list
//	go run ./mutate -record                               # write killers.txt anew
//
// Each mutant meets first the test that noticed it before, as killers.txt says; if that test does not notice it, every
// other test that asks for something that depends on the rule.
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
	"time"

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
	record := set.String("killers", "mutate/killers.txt", "file of the tests that noticed the mutants before")
	anew := set.Bool("record", false, "write that file anew")
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
	known, err := readKillers(*record)
	if err != nil {
		return 0, err
	}
	known.keep(all)
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
	b := bench{files: files, suites: suites, killers: known}
	lived, err = try(ctx, selected, b, *workers, out)
	if *anew {
		err = errors.Join(err, b.killers.write(*record))
	}
	return lived, err
}

func since(began time.Time) time.Duration { return time.Since(began).Round(time.Second) }

// try runs the mutants, some rules at once, and prints those that live.
func try(ctx context.Context, selected []mutant, b bench, workers int, out io.Writer) (lived int, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	began, done := time.Now(), 0
	next := make(chan []mutant)
	for range workers {
		group.Go(func() {
			for some := range next {
				left, failed := b.survivors(ctx, some)
				mu.Lock()
				if failed == nil {
					done, lived = done+len(some), lived+len(left)
				} else {
					err, left = errors.Join(err, fmt.Errorf("%s: %w", some[0], failed)), nil
				}
				for _, m := range left {
					fmt.Fprintln(out, "LIVES", m)
				}
				fmt.Fprintf(out, "%d of %d mutants, %d live, %s: %s\n", done, len(selected), lived, since(began),
					name(some[0].rule))
				mu.Unlock()
			}
		})
	}
	for _, some := range batches(selected) {
		next <- some
	}
	close(next)
	group.Wait()
	fmt.Fprintf(out, "%d of %d mutants were tried, %d live, %s\n", done, len(selected), lived, since(began))
	return lived, err
}

// atOnce is how many mutants share a process: a rule with more of them does not keep all other workers waiting.
const atOnce = 30

// batches puts mutants of the same rule together.
func batches(of []mutant) (all [][]mutant) {
	for i, m := range of {
		last := len(all) - 1
		if i > 0 && same(of[i-1], m) && len(all[last]) < atOnce {
			all[last] = append(all[last], m)
		} else {
			all = append(all, []mutant{m})
		}
	}
	return all
}

func same(a, b mutant) bool { return a.group == b.group && a.index == b.index }
