package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// pairs are steps of a migration that run at the same time.
var pairs = []struct {
	first, second string
	overlap       bool // nothing excludes them: a control that the count can be other than 0
}{
	{kindOld, kindBoth, false},
	{kindBoth, kindNew, false},
	{kindOld, kindNew, true},
}

// each is how many processes of each kind run.
const each = 2

// compare writes a line for each library and pair of steps.
func compare(ctx context.Context, o options, out io.Writer) error {
	failed := false
	fmt.Fprintln(out, "library       processes     acquired  by the first  by the second  overlaps  took")
	for _, l := range o.compare {
		for _, p := range pairs {
			began := time.Now()
			c, err := pair(ctx, o, l, p.first, p.second)
			if err != nil {
				return fmt.Errorf("%s, %s and %s: %w", l.name, p.first, p.second, err)
			}
			fmt.Fprintf(out, "%-12s  %-4s and %-4s %8d %13d %14d %9d  %v\n", l.name, p.first, p.second, c.entered,
				c.first, c.second, c.overlaps, time.Since(began).Round(time.Second))
			failed = failed || (c.overlaps > 0) != p.overlap || c.first == 0 || c.second == 0
		}
	}
	if failed {
		return errors.New("a pair that must not overlap did, or the control did not, or one kind never had the lock")
	}
	return nil
}

// counts are what the judge has counted.
type counts struct{ entered, first, second, overlaps int }

// pair runs processes of two kinds on new servers.
func pair(ctx context.Context, o options, l library, first, second string) (c counts, err error) {
	servers, err := redisproc.StartN(ctx, 4) // the last one judges
	if err != nil {
		return c, err
	}
	var urls []string
	var nodes []redis.UniversalClient
	for _, s := range servers {
		defer func() { err = errors.Join(err, s.Stop()) }()
		client := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer client.Close()
		urls, nodes = append(urls, "redis://"+s.Addr()), append(nodes, client)
	}
	judge := nodes[3]
	if err := redlock.Vouch(ctx, nodes[:3]); err != nil {
		return c, err
	}
	j := job{library: l, judge: urls[3], servers: urls[:3], target: o.n}
	if err := runAll(ctx, j, o.modules, first, second); err != nil {
		return c, err
	}
	for key, n := range map[string]*int{"entered": &c.entered, "entered:" + first: &c.first,
		"entered:" + second: &c.second, "overlaps": &c.overlaps} {
		if *n, err = judge.Get(ctx, key).Int(); err != nil && !errors.Is(err, redis.Nil) {
			return c, err
		}
	}
	return c, nil
}

// runAll runs the processes of both kinds. The first that fails ends the others.
func runAll(ctx context.Context, j job, modules string, kinds ...string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for _, kind := range kinds {
		j.kind = kind
		for range each {
			cmd, err := j.command(ctx, modules)
			if err != nil {
				return err
			}
			all.Go(func() {
				if text, err := cmd.CombinedOutput(); err != nil {
					stop(fmt.Errorf("%s: %w: %s", kind, err, text))
				}
			})
		}
	}
	all.Wait()
	return context.Cause(ctx)
}

// command is a process of its own.
func (j job) command(ctx context.Context, modules string) (*exec.Cmd, error) {
	if j.kind != kindOld || j.library.script == "" {
		self, err := os.Executable()
		return exec.CommandContext(ctx, self, j.args()...), err
	}
	_, source, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(source), j.library.script)
	args := append([]string{script, resource, j.judge, fmt.Sprint(j.target)}, j.servers[:j.library.servers]...)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	return cmd, nil
}
