// Command fencing shows why a lease alone cannot protect data, and how a fencing
// token does: a holder is stopped beyond its lease, wakes up, and writes.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/nodes"
	"github.com/lockscope/lockscope/lock/redlock"
)

func main() {
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fencing", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dsn := flags.String("dsn", "",
		"use this PostgreSQL (postgres://user@host/database) instead of an embedded SQLite;\n"+
			"a table of its own is created there and dropped at the end")
	servers := flags.String("redis", "", "use these servers (`host:port,host:port`) instead of starting three")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "go run ./examples/fencing [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && *dsn != "" && !strings.HasPrefix(*dsn, "postgres://") &&
		!strings.HasPrefix(*dsn, "postgresql://"):
		err = errors.New("-dsn must begin with postgres:// or postgresql://")
	}
	if err != nil {
		fmt.Fprintf(stderr, "fencing: %v; -h shows all flags\n", err)
		return 2
	}
	if err := demonstrate(ctx, *dsn, *servers, stdout); err != nil {
		fmt.Fprintf(stderr, "fencing: %v\n", err)
		return 1
	}
	return 0
}

// demonstrate opens what the story needs, tells it, and leaves nothing behind.
func demonstrate(ctx context.Context, dsn, servers string, out io.Writer) (err error) {
	lockers, closeLockers, err := openLockers(ctx, servers, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLockers()) }()
	store, closeStore, err := openStore(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	fmt.Fprintf(out, "the balances are in %v\n\n", store)
	s := &story{out: out, began: time.Now(), store: store, a: lockers[0], b: lockers[1]}
	return s.tell(ctx)
}

// openLockers makes the locks of A and B, as if they were two processes.
func openLockers(ctx context.Context, servers string, out io.Writer) (_ [2]*engine.Engine, _ func() error, err error) {
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for i := range closers {
			errs = append(errs, closers[len(closers)-1-i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	urls, opts := urlsOf(servers), []lock.Option{lock.WithPrefix("lock:fencing:")}
	if servers == "" {
		set, err := nodes.Start(ctx, 3)
		if err != nil {
			return [2]*engine.Engine{}, nil, err
		}
		closers = append(closers, set.Stop)
		fmt.Fprintln(out, strings.Join(set.Describe(), "\n"))
		urls, opts = set.URLs(), append(opts, set.Options()...)
	}
	var lockers [2]*engine.Engine
	for i, name := range []string{"A", "B"} {
		l, err := redlock.Open(urls, append(opts[:len(opts):len(opts)], lock.WithInstance(name))...)
		if err != nil {
			return lockers, nil, err
		}
		closers = append(closers, l.Close)
		lockers[i] = l
	}
	return lockers, closeAll, nil
}

func urlsOf(servers string) []string {
	urls := strings.Split(servers, ",")
	for i, s := range urls {
		if !strings.Contains(s, "://") {
			urls[i] = "redis://" + strings.TrimSpace(s)
		}
	}
	return urls
}

// openStore opens the given database, or SQLite in a directory that goes away.
func openStore(ctx context.Context, dsn string) (*Store, func() error, error) {
	// The name is random so that it is neither anybody else's table nor another run's.
	var run [4]byte
	_, _ = rand.Read(run[:])
	table := "lockscope_fencing_" + hex.EncodeToString(run[:])
	if dsn != "" {
		store, err := Open(ctx, dsn, table)
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	dir, err := os.MkdirTemp("", "lockscope-fencing-")
	if err != nil {
		return nil, nil, err
	}
	store, err := Open(ctx, filepath.Join(dir, "accounts.db"), table)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return store, func() error { return errors.Join(store.Close(), os.RemoveAll(dir)) }, nil
}
