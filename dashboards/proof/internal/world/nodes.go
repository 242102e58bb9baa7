package world

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// node is one of the demo's redis-servers.
type node struct {
	addr string
	pid  int
}

func parseNodes(ports, pids string) ([]node, error) {
	all, ids := strings.Fields(ports), strings.Fields(pids)
	if len(all) != len(ids) || len(all) < 5 {
		return nil, fmt.Errorf("%w: ports %q, pids %q", errNoNodes, ports, pids)
	}
	nodes := make([]node, len(all))
	for i := range all {
		pid, err := strconv.Atoi(ids[i])
		if err != nil || pid <= 1 {
			return nil, fmt.Errorf("%w: pid %q", errNoNodes, ids[i])
		}
		nodes[i] = node{addr: "127.0.0.1:" + all[i], pid: pid}
	}
	return nodes, nil
}

func (w *World) urls() []string {
	urls := make([]string, len(w.nodes))
	for i, n := range w.nodes {
		urls[i] = "redis://" + n.addr
	}
	return urls
}

// frozen is how many nodes of five leave no more than the quorum.
const frozen = 2

// refreeze is how often they are frozen again: the demo pauses and resumes nodes too.
const refreeze = 200 * time.Millisecond

// Freeze makes two of the five nodes hang until thaw, which waits until they are told
// to go on. The demo must be running; if it ends, so does the freeze.
func (w *World) Freeze() (thaw func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	var hold sync.WaitGroup
	hold.Go(func() { err = w.hold(ctx) })
	return sync.OnceValue(func() error {
		cancel()
		hold.Wait()
		return err
	})
}

func (w *World) hold(ctx context.Context) error {
	hung := w.nodes[len(w.nodes)-frozen:]
	tick := time.NewTicker(refreeze)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := w.demo.Err(); err != nil {
			return nil // and so have its servers; their pids may be those of others soon
		}
		if err := each(hung, process.Freeze); err != nil {
			return errors.Join(err, each(hung, process.Thaw))
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return each(hung, process.Thaw)
}

func each(nodes []node, do func(pid int) error) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, do(n.pid))
	}
	return errors.Join(errs...)
}

// Nodes returns the addresses of the redis-servers.
func (w *World) Nodes() []string {
	addrs := make([]string, len(w.nodes))
	for i, n := range w.nodes {
		addrs[i] = n.addr
	}
	return addrs
}
