// Command election starts three processes that campaign for one leadership, kills the leader, and shows who leads next.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/examples/internal/nodes"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// ttl is how long a leader that was killed keeps the leadership at most.
const ttl = 2 * time.Second

func main() {
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	candidate  string // the process is a candidate of this name
	urls       []string
	quarantine bool // servers that were started for the example may vote at once
}

// run is the program without its process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("election", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	servers := flags.String("redis", "", "use these servers (`host:port,host:port`) instead of starting three")
	candidate := flags.String("candidate", "", "campaign under this `name` until a signal, on the servers of -redis")
	fresh := flags.Bool("fresh", false, "the servers of -redis have never held a lock")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "go run ./examples/election [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && *candidate != "" && *servers == "":
		err = errors.New("-candidate needs -redis")
	}
	if err != nil {
		fmt.Fprintf(stderr, "election: %v; -h shows all flags\n", err)
		return 2
	}
	urls := strings.FieldsFunc(*servers, func(r rune) bool { return r == ',' || r == ' ' })
	cfg := config{candidate: *candidate, urls: urls, quarantine: !*fresh}
	if cfg.candidate != "" {
		err = campaign(ctx, cfg, stdout)
	} else {
		err = demonstrate(ctx, cfg, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "election: %v\n", err)
		return 1
	}
	return 0
}

// open makes the locks of one process.
func (c config) open(name string) (*engine.Engine, error) {
	opts := []lock.Option{lock.WithPrefix("lock:election:"), lock.WithInstance(name), lock.WithMaxTTL(ttl)}
	if !c.quarantine {
		opts = append(opts, redlock.WithRestartQuarantine(0))
	}
	return redlock.Open(c.urls, opts...)
}

// demonstrate starts servers unless there are some, and tells the story on them.
func demonstrate(ctx context.Context, cfg config, out io.Writer) (err error) {
	if len(cfg.urls) == 0 {
		set, err := nodes.Start(ctx, 3, lock.WithMaxTTL(ttl))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, set.Stop()) }()
		fmt.Fprintln(out, strings.Join(set.Describe(), "\n"))
		cfg.urls, cfg.quarantine = set.URLs(), false
	}
	s := story{config: cfg, out: out, began: time.Now()}
	defer func() { err = errors.Join(err, s.stopAll()) }()
	return s.tell(ctx)
}
