package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/systems"
	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

const (
	mostNode = 15

	// The longest fault lasts 1.3 TTL, and there are three that depend on it.
	ttlShare = 8
)

type config struct {
	systems.Config

	system systems.System
	length time.Duration
	seed   uint64
	listen string // host:port of metrics and page

	logLevel string
}

// parseFlags writes to usage only if asked for help.
func parseFlags(args []string, usage io.Writer) (config, error) {
	var cfg config
	var backend, servers string
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&backend, "backend", systems.All()[0].Name,
		"the `system` that the locks are in: "+systems.Names(systems.All()))
	flags.DurationVar(&cfg.length, "for", 20*time.Second, "how long to run")
	flags.IntVar(&cfg.Nodes, "nodes", 5, "how many Redis nodes to start")
	flags.StringVar(&servers, "redis", "",
		"use these servers (`host:port,host:port` or redis:// URLs) instead of starting some;\n"+
			"nothing is done to them but locking below lock:demo:")
	flags.DurationVar(&cfg.TTL, "ttl", 0,
		"how long a lock outlives a holder that died (default a tenth of -for, at most 2s)")
	flags.DurationVar(&cfg.Answer, "node-timeout", engine.MinNodeTimeout,
		"how long a node may take to answer; a busy machine needs more\n"+
			"(a quarter of -ttl unless given, at most 500ms, where there is one to ask: postgres, etcd, zookeeper)")
	flags.Uint64Var(&cfg.seed, "seed", 1, "what the services do and how long they hold follows from it")
	flags.StringVar(&cfg.listen, "listen", "127.0.0.1:0",
		"serve metrics and the live page on this `host:port`; port 0 picks a free one")
	flags.StringVar(&cfg.logLevel, "log", "error",
		"what of the services' logs to write to stderr: debug, info, warn or error")
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
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := cfg.choose(backend, given); err != nil {
		return cfg, err
	}
	var err error
	if cfg.Redis, err = splitServers(servers); err != nil {
		return cfg, err
	}
	return cfg, cfg.validate()
}

// choose takes the system of that name, with the defaults that follow from it, and
// refuses flags that mean nothing there.
func (c *config) choose(backend string, given map[string]bool) error {
	all := systems.All()
	i := slices.IndexFunc(all, func(s systems.System) bool { return s.Name == backend })
	if i < 0 {
		return fmt.Errorf("-backend %q: one of %s", backend, systems.Names(all))
	}
	c.system = all[i]
	for _, name := range []string{"redis", "nodes"} {
		if given[name] && backend != all[0].Name {
			return fmt.Errorf("-%s is for -backend %s: -backend %s starts %s of its own", name, all[0].Name, backend,
				c.system.Starts)
		}
	}
	if given["redis"] && given["nodes"] {
		return errors.New("-nodes says how many servers to start, -redis to start none: give one of them")
	}
	if c.TTL == 0 {
		c.TTL = min(c.length/10, 2*time.Second)
	}
	if !given["node-timeout"] {
		c.Answer = c.system.Answer(c.TTL)
	}
	return nil
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
	case c.length < c.system.Shortest:
		return fmt.Errorf("-for %v is too short: at least %v with -backend %s", c.length, c.system.Shortest,
			c.system.Name)
	case c.Nodes < 1 || c.Nodes > mostNode:
		return fmt.Errorf("-nodes %d: between 1 and %d", c.Nodes, mostNode)
	case c.TTL < c.system.MinTTL || c.TTL > lock.DefaultMaxTTL:
		return fmt.Errorf("-ttl %v: between %v and %v", c.TTL, c.system.MinTTL, lock.DefaultMaxTTL)
	case c.Answer < time.Millisecond || c.Answer > c.TTL/4:
		return fmt.Errorf("-node-timeout %v: between 1ms and a quarter of the TTL, which is %v", c.Answer, c.TTL)
	case c.TTL > c.length/ttlShare:
		return fmt.Errorf("-ttl %v is too long for -for %v: at most an eighth, or the faults do not fit", c.TTL,
			c.length)
	}
	if _, _, err := net.SplitHostPort(c.listen); err != nil {
		return fmt.Errorf("-listen: %q is not host:port", c.listen)
	}
	if _, _, err := zaplog.New(io.Discard, zaplog.WithLevel(c.logLevel)); err != nil {
		return fmt.Errorf("-log: %w", err)
	}
	if len(c.Redis) == 0 {
		return nil
	}
	locker, err := redlock.Open(c.Redis) // connects to nothing yet
	if err != nil {
		return fmt.Errorf("-redis: %w", err)
	}
	return locker.Close()
}
