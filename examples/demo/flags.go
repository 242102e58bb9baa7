package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

const (
	shortest = 3 * time.Second // faults need some room to be seen
	mostNode = 15

	// The longest fault lasts 1.3 TTL, and there are three that depend on it.
	ttlShare = 8

	// Package lock refuses shorter ones: there must be time for a node that hangs.
	minTTL = 4 * lock.MinNodeTimeout
)

type config struct {
	length time.Duration
	nodes  int
	redis  []string // host:port or URL of the user's own servers; empty: start some
	ttl    time.Duration
	answer time.Duration // how long a node may take to
	seed   uint64
	listen string // host:port of metrics and page

	logLevel string
}

// parseFlags writes to usage only if asked for help.
func parseFlags(args []string, usage io.Writer) (config, error) {
	var cfg config
	var servers string
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&cfg.length, "for", 20*time.Second, "how long to run")
	flags.IntVar(&cfg.nodes, "nodes", 5, "how many Redis nodes to start")
	flags.StringVar(&servers, "redis", "", "use these servers (`host:port,host:port` or redis:// URLs) instead of starting some;\n"+
		"nothing is done to them but locking below lock:demo:")
	flags.DurationVar(&cfg.ttl, "ttl", 0, "how long a lock outlives a holder that died (default a tenth of -for, at most 2s)")
	flags.DurationVar(&cfg.answer, "node-timeout", lock.MinNodeTimeout, "how long a node may take to answer; a busy machine needs more")
	flags.Uint64Var(&cfg.seed, "seed", 1, "what the services do and how long they hold follows from it")
	flags.StringVar(&cfg.listen, "listen", "127.0.0.1:0", "serve metrics and the live page on this `host:port`; port 0 picks a free one")
	flags.StringVar(&cfg.logLevel, "log", "error", "what of the services' logs to write to stderr: debug, info, warn or error")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "go run ./examples/demo [flags]")
			flags.SetOutput(usage)
			flags.PrintDefaults()
		}
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	nodesGiven := false
	flags.Visit(func(f *flag.Flag) { nodesGiven = nodesGiven || f.Name == "nodes" })
	if servers != "" && nodesGiven {
		return cfg, errors.New("-nodes says how many servers to start, -redis to start none: give one of them")
	}
	if cfg.ttl == 0 {
		cfg.ttl = min(cfg.length/10, 2*time.Second)
	}
	var err error
	if cfg.redis, err = splitServers(servers); err != nil {
		return cfg, err
	}
	return cfg, cfg.validate()
}

func splitServers(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	servers := strings.Split(list, ",")
	for i, s := range servers {
		servers[i] = strings.TrimSpace(s)
		if servers[i] == "" {
			return nil, errors.New("-redis names an empty server")
		}
	}
	return servers, nil
}

func (c config) validate() error {
	switch {
	case c.length < shortest:
		return fmt.Errorf("-for %v is too short: at least %v", c.length, shortest)
	case c.nodes < 1 || c.nodes > mostNode:
		return fmt.Errorf("-nodes %d: between 1 and %d", c.nodes, mostNode)
	case c.ttl < minTTL || c.ttl > lock.DefaultMaxTTL:
		return fmt.Errorf("-ttl %v: between %v and %v", c.ttl, minTTL, lock.DefaultMaxTTL)
	case c.answer < time.Millisecond || c.answer > c.ttl/4:
		return fmt.Errorf("-node-timeout %v: between 1ms and a quarter of the TTL, which is %v", c.answer, c.ttl)
	case c.ttl > c.length/ttlShare:
		return fmt.Errorf("-ttl %v is too long for -for %v: at most an eighth, or the faults do not fit", c.ttl, c.length)
	}
	if _, _, err := net.SplitHostPort(c.listen); err != nil {
		return fmt.Errorf("-listen: %q is not host:port", c.listen)
	}
	if _, _, err := zaplog.New(io.Discard, zaplog.WithLevel(c.logLevel)); err != nil {
		return fmt.Errorf("-log: %w", err)
	}
	if len(c.redis) == 0 {
		return nil
	}
	locker, err := redlock.Open(urlsOf(c.redis)) // connects to nothing yet
	if err != nil {
		return fmt.Errorf("-redis: %w", err)
	}
	return locker.Close()
}
