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
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
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

// startNodes starts five nodes and vouches for them. It is used in a world without the demo.
func (w *World) startNodes(ctx context.Context) error {
	servers, err := redisproc.StartN(ctx, 5)
	if err != nil {
		return err
	}
	for _, s := range servers {
		w.ends = append(w.ends, s.Stop)
		w.nodes = append(w.nodes, node{addr: s.Addr(), pid: s.PID()})
	}
	clients, closeAll, err := redlock.NewClients(w.urls())
	if err != nil {
		return err
	}
	w.cfg.Tell("%d redis-servers", len(w.nodes))
	return errors.Join(redlock.Vouch(ctx, clients), closeAll())
}

func (w *World) urls() []string {
	urls := make([]string, len(w.nodes))
	for i, n := range w.nodes {
		urls[i] = "redis://" + n.addr
	}
	return urls
}

// refreeze is how often Freeze freezes its nodes again, because the demo also resumes nodes.
const refreeze = 200 * time.Millisecond

// Freeze makes this many of the five nodes hang. thaw resumes them and waits for that. The freeze also ends with the
// demo, if there is one.
func (w *World) Freeze(nodes int) (thaw func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	var hold sync.WaitGroup
	hold.Go(func() { err = w.hold(ctx, w.nodes[len(w.nodes)-nodes:]) })
	return sync.OnceValue(func() error {
		cancel()
		hold.Wait()
		return err
	})
}

func (w *World) hold(ctx context.Context, hung []node) error {
	tick := time.NewTicker(refreeze)
	defer tick.Stop()
	for ctx.Err() == nil {
		if w.demo.Process != nil && w.demo.Err() != nil {
			return nil // and so have its servers: their pids may soon belong to others
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
