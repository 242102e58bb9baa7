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
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
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
	mysql := flags.String("mysql", "",
		"also show the late write on this MySQL or MariaDB (user:password@tcp(host:3306)/database);\n"+
			"a table of its own is created there and dropped at the end, and lockscope_fences, which stays")
	objects := flags.String("s3", "",
		"use this S3-compatible server (http://user:password@host:port) instead of a fake in this process;\n"+
			"a bucket is created there and deleted at the end")
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
	w := where{dsn: *dsn, servers: *servers, mysql: *mysql, objects: *objects}
	if err := w.demonstrate(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "fencing: %v\n", err)
		return 1
	}
	return 0
}

// where is what the flags say.
type where struct{ dsn, servers, mysql, objects string }

// demonstrate opens what the story needs, tells it, and leaves nothing behind.
func (w where) demonstrate(ctx context.Context, out io.Writer) (err error) {
	urls, opts, stop, err := openServers(ctx, w.servers, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	lockers, closeLockers, err := openLockers(urls, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLockers()) }()
	// The name is random: no other table and no other run has it.
	var random [4]byte
	_, _ = rand.Read(random[:])
	run := "lockscope_fencing_" + hex.EncodeToString(random[:])
	store, closeStore, err := openStore(ctx, w.dsn, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	fmt.Fprintf(out, "the balances are in %v\n\n", store)
	s := &story{out: out, began: time.Now(), store: store, a: lockers[0], b: lockers[1]}
	if err := s.tell(ctx); err != nil {
		return err
	}
	places, closePlaces, err := w.openPlaces(ctx, urls[0], run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closePlaces()) }()
	fmt.Fprintf(out, "\nthe same late write elsewhere, where B has written %d:\n", opening+ofB)
	for _, p := range places {
		if err := s.repeat(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// openPlaces opens the other storages. On error nothing is left behind.
func (w where) openPlaces(ctx context.Context, redisURL, run string) ([]*place, func() error, error) {
	var all []*place
	done := func() (err error) {
		for _, p := range all {
			err = errors.Join(err, p.close())
		}
		return err
	}
	for _, open := range []func() (*place, error){
		func() (*place, error) { return inRedis(redisURL, run) },
		func() (*place, error) { return inBucket(ctx, w.objects, run) },
		func() (*place, error) { return inMySQL(ctx, w.mysql, run) },
	} {
		p, err := open()
		if err != nil {
			return nil, nil, errors.Join(err, done())
		}
		if p != nil {
			all = append(all, p)
		}
	}
	return all, done, nil
}

// openServers starts three servers for the locks, unless some are given.
func openServers(ctx context.Context, given string, out io.Writer) ([]string, []lock.Option, func() error, error) {
	opts := []lock.Option{lock.WithPrefix("lock:fencing:")}
	if given != "" {
		urls := strings.FieldsFunc(given, func(r rune) bool { return r == ',' || r == ' ' })
		return urls, opts, func() error { return nil }, nil
	}
	servers, err := redisproc.StartN(ctx, 3)
	if err != nil {
		return nil, nil, nil, err
	}
	var urls []string
	var clients []redis.UniversalClient
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		clients = append(clients, c)
	}
	stop := func() error {
		return errors.Join(servers[0].Stop(), servers[1].Stop(), servers[2].Stop())
	}
	if err := redlock.Vouch(ctx, clients, opts...); err != nil {
		return nil, nil, nil, errors.Join(err, stop())
	}
	fmt.Fprintln(out, "3 redis-server processes: "+strings.Join(urls, " "))
	return urls, opts, stop, nil
}

// openLockers makes the locks of A and B, as if they were two processes.
func openLockers(urls []string, opts []lock.Option) (_ [2]*engine.Engine, _ func() error, err error) {
	var lockers [2]*engine.Engine
	closeAll := func() (err error) {
		for i := range lockers {
			if l := lockers[len(lockers)-1-i]; l != nil {
				err = errors.Join(err, l.Close())
			}
		}
		return err
	}
	for i, name := range []string{"A", "B"} {
		l, err := redlock.Open(urls, append(opts[:len(opts):len(opts)], lock.WithInstance(name))...)
		if err != nil {
			return lockers, nil, errors.Join(err, closeAll())
		}
		lockers[i] = l
	}
	return lockers, closeAll, nil
}

// openStore opens the given database, or SQLite in a directory that goes away.
func openStore(ctx context.Context, dsn, table string) (*Store, func() error, error) {
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
