package top

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

const topHelp = `Watch nodes, the locks that somebody waits for, and who blocks whom. Reads only, from the nodes.

Keys: up and down select, enter shows waiters, / filters, s sorts, p pauses, ? explains, q quits.`

const topExample = `  lockscope top --redis r1:6379,r2:6379,r3:6379
  lockscope top --config lockscope.yaml --postgres postgres://orders@db/shop --pages '*.orders.svc'
  lockscope top --redis r1:6379 --once | grep DEADLOCK`

const (
	defaultInterval = 2 * time.Second
	shortest        = 200 * time.Millisecond
	defaultTimeout  = time.Second
)

type topFlags struct {
	servers  servers.Flags
	config   string
	prefixes []string
	filter   string
	sort     string
	interval time.Duration
	timeout  time.Duration
	pages    string
	page     *ui.List
	once     bool
}

// Command is lockscope top.
func Command(a *ui.App) *cobra.Command {
	f := &topFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"config", "redis", "redis-file", "postgres", "etcd", "zookeeper", "prefix", "filter", "order", "refresh",
			"once", "page", "pages",
		},
		Exit:   "0, or 2 if --once could not read every server",
		Topics: []string{"locks", "connection"},
	}.On(&cobra.Command{
		Use: "top", Short: "Watch nodes, contended locks and who blocks whom in a terminal", Long: topHelp,
		Example: topExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	set.StringVarP(&f.config, "config", "c", "",
		"configuration `file` with groups of servers: see \"lockscope help config\"")
	ui.Group(set, ui.Servers, "config")
	f.servers.Register(set)
	set.StringArrayVar(&f.prefixes, "prefix", nil,
		"locks whose keys begin with this `text` (default "+lock.DefaultPrefix+"). Repeat it for several")
	set.StringVar(&f.filter, "filter", "", "only locks with this `text` in their name, holder or waiters")
	set.StringVar(&f.sort, "order", "waiting",
		"`order`: waiting, longest, callers or name. waiting is the number of callers times the longest wait")
	set.DurationVar(&f.interval, "refresh", defaultInterval, "time between two refreshes")
	set.DurationVar(&f.timeout, "node-timeout", defaultTimeout,
		"time after which a Redis node that does not answer is down")
	set.BoolVar(&f.once, "once", false, "print one frame and exit. The default if the output is no terminal")
	f.page = ui.NewList("URL")
	set.Var(f.page, "page", "live page to read rates from: http://host:port/debug/locks. Repeat it for several")
	set.StringVar(&f.pages, "pages", "off", "`hosts` to read pages of: off, listed or patterns. The pages are those "+
		"that holders and waiters name. Anybody who can write to Redis can plant an address: see \"lockscope help serving\"")
	ui.Group(set, ui.Search, "prefix", "filter")
	ui.Group(set, ui.Result, "order", "refresh", "once", "page", "pages")
	ui.Group(set, ui.Load, "node-timeout")
	return cmd
}

func (f *topFlags) run(ctx context.Context, a *ui.App) error {
	order, err := f.order()
	if err != nil {
		return err
	}
	src, err := f.open(a)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.once || ui.Terminal(a.Out) == 0 || ui.Terminal(a.In) == 0 {
		return printOnce(ctx, a, src, order, f.filter)
	}
	return screen.New(ctx, screen.Config{
		Read: src.Read, Every: f.interval, Color: ui.Colored(a.Out, a.Env), Order: order, Filter: f.filter,
	}).Run(a.In, a.Out, environ(a.Env))
}

func (f *topFlags) order() (screen.Order, error) {
	if f.interval < shortest {
		return 0, fmt.Errorf("--refresh %v: use %v or more", f.interval, shortest)
	}
	if f.timeout <= 0 {
		return 0, fmt.Errorf("--node-timeout %v is not positive", f.timeout)
	}
	for order, name := range map[screen.Order]string{
		screen.ByWaiting: "waiting", screen.ByLongest: "longest", screen.ByCallers: "callers", screen.ByName: "name",
	} {
		if f.sort == name {
			return order, nil
		}
	}
	return 0, fmt.Errorf("--order: unknown order %q: use waiting, longest, callers or name", f.sort)
}

func environ(env ui.Env) (all []string) {
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	return all
}
