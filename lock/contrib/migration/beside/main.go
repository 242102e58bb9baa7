// Command beside runs processes of another lock library beside those that migrate away from it, on the same key, and
// counts how often two are inside at the same time; see package migration.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

func main() {
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process: it returns the exit status. The status is 1 if two processes overlapped that
// must not, or none did where nothing excludes them.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "beside: %v; -h shows all flags\n", err)
		return 2
	case o.job.kind != "":
		err = work(ctx, o.job)
	default:
		err = compare(ctx, o, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "beside: %v\n", err)
		return 1
	}
	return 0
}

// options are what the flags say.
type options struct {
	job     job       // of a process that was started by this program
	compare []library // otherwise
	n       int
	modules string // where Node.js finds redlock and ioredis; "" to leave node-redlock out
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("beside", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	only := flags.String("library", "", "one of them instead of all")
	flags.IntVar(&o.n, "n", 10_000, "acquisitions of each pair of steps")
	flags.StringVar(&o.modules, "node-modules", "",
		"`folder` with the packages redlock 5 and ioredis, for node-redlock; without it that is left out")
	flags.StringVar(&o.job.kind, "work", "", "be one of the processes; this program starts them so")
	flags.StringVar(&o.job.judge, "judge", "", "with -work")
	servers := flags.String("servers", "", "with -work")
	err = flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stdout, "go run ./beside [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
	}
	if err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.n < 1 {
		return o, fmt.Errorf("-n %d: at least 1", o.n)
	}
	o.compare = slices.DeleteFunc(libraries(), func(l library) bool {
		return *only != "" && l.name != *only || *only == "" && l.script != "" && o.modules == ""
	})
	if len(o.compare) == 0 {
		return o, fmt.Errorf("no library %q", *only)
	}
	o.job.library, o.job.target, o.job.servers = o.compare[0], o.n, strings.Split(*servers, ",")
	return o, nil
}
