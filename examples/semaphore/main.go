// Command semaphore shares three permits between processes, kills one that has two of them, and shows that they come
// back.
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

const (
	name    = "exports" // of the semaphore
	permits = 3
	ttl     = 2 * time.Second // how long the permits of a process that was killed stay taken at most
)

func main() {
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	hold  int // permits that this process takes and keeps
	urls  []string
	fresh bool // servers that have never held a lock may vote at once
}

// run is the program without its process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("semaphore", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	servers := flags.String("redis", "", "use these servers (`host:port,host:port`) instead of starting three")
	hold := flags.Int("hold", 0, "take `n` permits on the servers of -redis, and keep them until a signal")
	fresh := flags.Bool("fresh", false, "the servers of -redis have never held a lock")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "go run ./examples/semaphore [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && *hold != 0 && *servers == "":
		err = errors.New("-hold needs -redis")
	case err == nil && *hold < 0:
		err = errors.New("-hold is negative")
	}
	if err != nil {
		fmt.Fprintf(stderr, "semaphore: %v; -h shows all flags\n", err)
		return 2
	}
	urls := strings.FieldsFunc(*servers, func(r rune) bool { return r == ',' || r == ' ' })
	cfg := config{hold: *hold, urls: urls, fresh: *fresh}
	if cfg.hold > 0 {
		err = keep(ctx, cfg, stdout)
	} else {
		err = demonstrate(ctx, cfg, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "semaphore: %v\n", err)
		return 1
	}
	return 0
}

// open makes the locks of one process.
func (c config) open(instance string) (*engine.Engine, error) {
	opts := []lock.Option{lock.WithInstance(instance), lock.WithCallSites(), lock.WithMaxTTL(ttl)}
	if c.fresh {
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
		cfg.urls, cfg.fresh = set.URLs(), true
	}
	return tell(ctx, cfg, out)
}
