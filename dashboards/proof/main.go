// Proof checks dashboards and rules against real data. It starts five redis-servers with
// the demo on them, a service in trouble, lockscope serve, Prometheus and Alertmanager. It
// waits for alerts and runs every query of every panel.
//
//	go run ./dashboards/proof
//	go run ./dashboards/proof -keep     # and leaves it all running until Ctrl-C
//	go run ./dashboards/proof -alerts   # fires every alert, and waits until all is calm
//	go run ./dashboards/proof -native   # with native histograms; also with -alerts
//
// Exit status: 0 proved, 1 not proved, 2 wrong arguments.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

func main() {
	// go-redis would log the planted faults to the terminal.
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Lengths of the demo, over which its faults are spread. A kept world runs for longer.
const (
	defaultLength = 4 * time.Minute
	keptLength    = 10 * time.Minute
	minLength     = 2 * time.Minute
)

type options struct {
	keep   bool
	alerts bool
	native bool
	length time.Duration
}

// run runs the program and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "proof: %v; -h shows all flags\n", err)
		return 2
	}
	prove := newProof(stdout).run
	if o.alerts {
		prove = newProof(stdout).runAlerts
	}
	if err := prove(ctx, o); err != nil {
		fmt.Fprintf(stderr, "proof: %v\n", err)
		return 1
	}
	return 0
}

// parseFlags writes to usage only for -h.
func parseFlags(args []string, usage io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("proof", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.keep, "keep", false, "leave everything running until Ctrl-C, also if something was wrong")
	flags.BoolVar(&o.alerts, "alerts", false,
		"fire every alert, with minutes of two seconds, and see that none is left when all is well")
	flags.BoolVar(&o.native, "native", false, "have all services but the demo keep native histograms")
	flags.DurationVar(&o.length, "for", 0,
		fmt.Sprintf("how long the demo runs: nothing new is seen afterwards (default %v, with -keep %v)", defaultLength,
			keptLength))
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "go run ./dashboards/proof [flags]")
			flags.SetOutput(usage)
			flags.PrintDefaults()
		}
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.alerts && (o.keep || o.length != 0) {
		return o, errors.New("-alerts cannot be combined with -keep or -for")
	}
	if o.length == 0 {
		o.length = defaultLength
		if o.keep {
			o.length = keptLength
		}
	}
	if o.length < minLength {
		return o, fmt.Errorf("-for %v is too short: use at least %v", o.length, minLength)
	}
	return o, nil
}
