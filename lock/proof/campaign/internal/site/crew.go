//go:build linux

package site

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// Orders are what all workers are told alike.
type Orders struct {
	Dir         string // of all files
	Ledger      string // address
	Resources   []string
	Callers     int
	Builders    int
	MaxTTL      time.Duration
	NodeTimeout time.Duration
	Pace        time.Duration
	Seed        uint64

	Soak bool        // workers serve views, look at themselves less often, and share out what callers do
	Leak worker.Leak // of the first client
}

// Worker is one client process that was started.
type Worker struct {
	worker.Config
	Client  int
	Members int
	To      int64 // when it was gone, on the clock of package history; 0 while it runs
	Killed  bool  // before it could say how it ended
	Failed  string
	Address string // of its views; "" without any

	process *process.Process
}

// Crew are the client processes: one for each client at a time. Its methods may be called
// concurrently, those about one client one after the other.
type Crew struct {
	site   *Site
	orders Orders

	mu      sync.Mutex
	members int
	all     []*Worker
	current []*Worker
}

func newCrew(s *Site, o Orders, members int) *Crew {
	return &Crew{site: s, orders: o, members: members, current: make([]*Worker, s.Clients)}
}

// stopTime is how long a worker may take to end: it gives back what it holds.
const stopTime = 30 * time.Second

// clientNiceness leaves the servers, and this process with its proxies, processor time beside hundreds of clients, as they
// would have on machines of their own. Only the largest will do: each runnable process counts, and 200 of them at 10
// outweigh one at 0 twenty times.
const clientNiceness = "19"

// Start starts a client's process, which must not run, and returns when it can be asked to end.
func (c *Crew) Start(client int) error { return c.start(client, false) }

// StartForger starts one that takes no locks.
func (c *Crew) StartForger(client int) error { return c.start(client, true) }

func (c *Crew) start(client int, forge bool) error {
	c.mu.Lock()
	w := &Worker{Client: client, Members: c.members}
	number := len(c.all) + 1
	c.mu.Unlock()
	w.Config = worker.Config{
		Name: fmt.Sprintf("w%d.%03d", client+1, number), Dir: c.orders.Dir, Ledger: c.orders.Ledger,
		Resources: c.orders.Resources,
		NodeNames: c.site.names(w.Members), Callers: c.orders.Callers, Builders: c.orders.Builders, MaxTTL: c.orders.MaxTTL,
		NodeTimeout: c.orders.NodeTimeout, Pace: c.orders.Pace,
		Seed: c.orders.Seed<<16 + uint64(number), Forge: forge, Views: c.orders.Soak, Quiet: c.orders.Soak,
	}
	if c.orders.Soak {
		w.Turn = client * max(c.orders.Callers, c.orders.Builders)
	}
	if client == 0 {
		w.Leak = c.orders.Leak
	}
	for _, link := range c.site.Links[client][:w.Members] {
		w.Nodes = append(w.Nodes, link.Addr())
	}
	cmd, err := w.Command()
	if err != nil {
		return err
	}
	if c.orders.Soak {
		nice := exec.Command("nice", append([]string{"-n", clientNiceness}, cmd.Args...)...)
		nice.Env, cmd = cmd.Env, nice
	}
	if w.process, err = process.Start(w.Name, w.Dir, cmd); err != nil {
		return err
	}
	c.mu.Lock()
	c.all, c.current[client] = append(c.all, w), w
	c.mu.Unlock()
	said, err := w.process.Await(context.Background(), ready)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Address = said[1]
	return nil
}

var ready = regexp.MustCompile(worker.Ready + ` ?(\S*)\n`)

// Running are the clients' processes of now. PID and Address are of those that serve views already.
func (c *Crew) Running() []*Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Worker
	for _, w := range c.current {
		if w != nil && (w.Address != "" || !c.orders.Soak) {
			all = append(all, w)
		}
	}
	return all
}

// PID is that of the process.
func (w *Worker) PID() int { return w.process.PID() }

// Current is the client's process, or nil.
func (c *Crew) Current(client int) *Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current[client]
}

// Kill ends a client's process with SIGKILL.
func (c *Crew) Kill(client int) error {
	w := c.Current(client)
	if w == nil {
		return nil
	}
	w.Killed = w.process.Running()
	err := w.process.Kill()
	c.gone(w)
	return err
}

// Stop lets a client's process come to its end.
func (c *Crew) Stop(client int) error {
	w := c.Current(client)
	if w == nil {
		return nil
	}
	err := w.process.StopWithin(stopTime)
	w.Killed = errors.Is(err, process.ErrKilled)
	c.gone(w)
	return err
}

// gone takes note of a process that has ended. One that failed says why.
func (c *Crew) gone(w *Worker) {
	w.To = history.Now()
	if code := w.process.ExitCode(); !w.Killed && code != 0 {
		w.Failed = w.process.Err().Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current[w.Client] = nil
}

// Freeze stops the process with SIGSTOP. It fails with process.ErrExited if it has ended.
func (w *Worker) Freeze() error { return w.process.Freeze() }

// Thaw lets it go on.
func (w *Worker) Thaw() error { return w.process.Thaw() }

// SetMembers says how many nodes those started from now on use.
func (c *Crew) SetMembers(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = n
}

// Members is how many nodes those started now use.
func (c *Crew) Members() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members
}

// StopAll lets all processes come to their end.
func (c *Crew) StopAll() error {
	errs := make([]error, len(c.current))
	var wg sync.WaitGroup
	for client := range errs {
		wg.Go(func() { errs[client] = c.Stop(client) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Workers are all that were ever started, for use after StopAll.
func (c *Crew) Workers() []*Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*Worker(nil), c.all...)
}
