//go:build linux

// Command campaign runs a campaign against the locks of package redlock: client processes
// that lock, on real redis-server processes, while everything is done to both and to the
// network between them that the promise of package lock covers. Judges then look for
// anything that the promise rules out, and a report tells what was done and found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

func main() {
	if cfg, isWorker, err := worker.FromEnvironment(); isWorker {
		os.Exit(work(cfg, err))
	}
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// work is a client process; what it says goes to its log.
func work(cfg worker.Config, err error) int {
	if err == nil {
		err = worker.Run(cfg)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "campaign: worker: %v\n", err)
		return 1
	}
	return 0
}

// run is the program without its process. The exit status is 1 if there is an anomaly, or
// no verdict, and 2 if the flags are wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "campaign: %v; -h shows all flags\n", err)
		return 2
	}
	o.progress = stderr
	c, err := conduct(ctx, o)
	if err != nil {
		fmt.Fprintf(stderr, "campaign: %v\n", err)
		return 1
	}
	if err := c.publish(stdout); err != nil {
		fmt.Fprintf(stderr, "campaign: %v\n", err)
		return 1
	}
	if !c.ok() {
		return 1
	}
	return 0
}

// options are what the flags say.
type options struct {
	length  time.Duration
	seed    uint64
	dir     string
	record  string // where the lines of the code are written that a campaign held for; "" for nowhere
	clients int
	callers int // of each client

	builders int // callers of each client that use what is built on locks
	pace     time.Duration

	lockscope string      // the binary whose views are open; "" for a campaign that is no soak
	leak      worker.Leak // planted into the first client
	forgers   int         // clients that take no locks, for a campaign that must find violations
	progress  io.Writer
}

const nodes = 5

// load is what callers want from the nodes.
type load struct {
	resources   int
	maxTTL      time.Duration
	nodeTimeout time.Duration
}

// load has short TTLs in a campaign, so that much happens in a minute. In a soak it has the default TTL, and a timeout
// for an hour in which the machine is busy: one that is too short makes each process connect anew again and again. A
// caller may call every two minutes there, and should have used all resources by the end of the warm-up, since its
// process has metrics for each.
func (o options) load() load {
	if o.isSoak() {
		return load{resources: 12, maxTTL: 10 * time.Second, nodeTimeout: 800 * time.Millisecond}
	}
	return load{resources: 48, maxTTL: 3 * time.Second, nodeTimeout: 150 * time.Millisecond}
}

func (o options) isSoak() bool { return o.lockscope != "" }

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("campaign", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.length, "for", time.Minute, "how long the campaign takes, without the judges")
	flags.Uint64Var(&o.seed, "seed", 1, "of the plan of faults, and of what clients do")
	flags.StringVar(&o.dir, "out", "",
		"where histories and report go, a `directory` (default: a new one for temporary files)")
	flags.StringVar(&o.record, "record", "",
		"write the lines of code that the campaign speaks for, if it holds, to this `file`, in a folder below that "+
			"of the code")
	flags.IntVar(&o.clients, "clients", 5, "how many client processes there are at a time")
	flags.IntVar(&o.callers, "callers", 12, "how many callers each of them has")
	flags.IntVar(&o.builders, "builders", len(history.Constructs),
		"how many callers use elections, semaphores, sets and read/write locks in each of them")
	flags.DurationVar(&o.pace, "pace", 80*time.Millisecond, "what a caller pauses between two locks, on average")
	flags.StringVar(&o.lockscope, "soak", "",
		"soak: a fault every 30s, all views open with this `binary` of lockscope, and memory, goroutines, connections "+
			"and file descriptors of each process watched")
	flags.StringVar((*string)(&o.leak), "leak", "",
		"plant a leak into the first client, which a soak must find: goroutine, connection, memory or descriptor")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "go run ./lock/proof/campaign [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, err
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.length < 5*time.Second:
		return o, errors.New("-for must be at least 5s")
	case o.clients < 1 || o.callers < 1 || o.builders < 0:
		return o, errors.New("-clients and -callers must be above zero, and -builders not below")
	case o.pace <= 0:
		return o, errors.New("-pace must be above zero")
	case o.leak != "" && !slices.Contains(worker.Leaks, o.leak):
		return o, fmt.Errorf("-leak %s: want one of %v", o.leak, worker.Leaks)
	case o.leak != "" && !o.isSoak():
		return o, errors.New("-leak needs -soak: nothing else looks for it")
	}
	if o.isSoak() {
		if o.lockscope, err = filepath.Abs(o.lockscope); err != nil {
			return o, err
		}
	}
	if o.dir == "" {
		o.dir, err = os.MkdirTemp("", "campaign-")
	} else if err = os.MkdirAll(o.dir, 0o755); err == nil {
		o.dir, err = filepath.Abs(o.dir)
	}
	return o, err
}
