// Command peers measures the locks of package redlock beside those that people use
// today, in alternation and on the same redis-server processes, and prints one table.
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
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

func main() {
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process: it returns the exit status. Failures of a
// peer are part of the table; the status is 1 if there is none.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v; -h shows all flags\n", err)
		return 2
	}
	write := measureTable
	if o.beside {
		write = measureBesideTable
	}
	if err := write(ctx, o, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 1
	}
	return 0
}

func measureTable(ctx context.Context, o options, stdout, stderr io.Writer) error {
	results, err := measureAll(ctx, o, allPeers(), stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n\n", circumstances(o))
	writeTable(stdout, allPeers(), results)
	return nil
}

// options are what the flags say.
type options struct {
	stretch   time.Duration // of one peer
	stretches int           // of each peer in each row
	rtt       time.Duration // added to every round trip
	rows      []row
	beside    bool // the table of lockscope and another library on one key
	besides   []besideRow
}

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.stretch, "for", time.Second, "how long a peer works before it is the next one's turn")
	flags.IntVar(&o.stretches, "stretches", 5, "how often each peer has its turn in a row")
	flags.DurationVar(&o.rtt, "rtt", 0, "add this much to every round trip, with a proxy before each server")
	only := flags.String("rows", "", "only the rows whose name matches this `regexp`: 'pair,' or '5 nodes'")
	flags.BoolVar(&o.beside, "beside", false, "measure lockscope and another library on the same key instead")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "go run ./lock/proof/peers [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, err
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.stretch <= 0 || o.stretches <= 0 || o.rtt < 0:
		return o, errors.New("-for and -stretches must be above zero, -rtt not below")
	}
	if o.beside {
		o.besides, err = selectRows(*only, allBesideRows(), besideRow.name)
	} else {
		o.rows, err = selectRows(*only, allRows(), func(r row) string { return r.name })
	}
	return o, err
}

func selectRows[R any](pattern string, all []R, name func(R) string) ([]R, error) {
	want, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-rows: %w", err)
	}
	var selected []R
	for _, r := range all {
		if want.MatchString(name(r)) {
			selected = append(selected, r)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("-rows %q matches none of the rows", pattern)
	}
	return selected, nil
}
