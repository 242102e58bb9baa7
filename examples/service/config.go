package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

const mostNodes = 9

type config struct {
	listen      string
	redis       []string // URLs; empty: locks in memory
	nodes       int      // how many to have in memory
	instance    string
	nodeTimeout time.Duration
	chargeTakes time.Duration
	fleetURL    string // of the page of all processes
	logLevel    string
	logFormat   string
	web         server.Web
	ready       func(api, telemetry string) // told the URLs once both answer
}

// parseFlags writes to usage only if asked for help.
func parseFlags(args []string, usage io.Writer) (config, error) {
	cfg := config{ready: func(string, string) {}}
	var servers string
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&cfg.listen, "listen", "127.0.0.1:8080", "`host:port` of the API")
	flags.StringVar(&servers, "redis", "",
		"`URLs` of independent Redis nodes, separated by commas; better given in REDIS_URLS\n"+
			"if they hold passwords. Without any, locks are kept in the memory of this process")
	flags.IntVar(&cfg.nodes, "nodes", 5, "how many nodes to have in memory, without Redis")
	flags.StringVar(&cfg.instance, "instance", defaultInstance(), "name of this process in the locks it holds")
	flags.DurationVar(&cfg.nodeTimeout, "node-timeout", engine.DefaultNodeTimeout(lock.DefaultTTL),
		"how long a node may take for a command")
	flags.DurationVar(&cfg.chargeTakes, "charge-takes", 50*time.Millisecond, "how long the payment provider takes")
	flags.StringVar(&cfg.fleetURL, "fleet-url", os.Getenv("LOCKSCOPE_FLEET_URL"),
		"`URL` of the page of all processes, as lockscope serve --pages serves it: /debug/locks\n"+
			"links there (default LOCKSCOPE_FLEET_URL)")
	flags.StringVar(&cfg.logLevel, "log.level", zaplog.DefaultLevel, "debug, info, warn or error")
	flags.StringVar(&cfg.logFormat, "log.format", zaplog.FormatConsole, "console or json")
	cfg.web.Register(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "go run ./examples/service [flags]")
			flags.SetOutput(usage)
			flags.PrintDefaults()
		}
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if servers == "" {
		servers = os.Getenv("REDIS_URLS")
	}
	cfg.redis = strings.FieldsFunc(servers, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return cfg, cfg.validate()
}

func (c *config) validate() error {
	switch {
	case c.nodes < 1 || c.nodes > mostNodes:
		return fmt.Errorf("-nodes %d: between 1 and %d", c.nodes, mostNodes)
	case c.chargeTakes < 0:
		return fmt.Errorf("-charge-takes %v is negative", c.chargeTakes)
	}
	return nil
}

func defaultInstance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return "orders@" + host + "/" + strconv.Itoa(os.Getpid())
}
