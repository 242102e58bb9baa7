//go:build linux

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
)

// Done is a fault as it was carried out.
type Done struct {
	Kind    Kind     `json:"kind"`
	From    int64    `json:"from"` // on the clock of package history
	To      int64    `json:"to"`   // when it was mended
	Nodes   []string `json:"nodes,omitempty"`
	Clients []int    `json:"clients,omitempty"` // whose acquires it concerns; none if all
	Worker  string   `json:"worker,omitempty"`  // the process that was stopped
	Detail  string   `json:"detail,omitempty"`
	Skipped bool     `json:"skipped,omitempty"` // for what it needs was not there: nothing was done
	Err     string   `json:"err,omitempty"`
}

// Nemesis carries a plan out.
type Nemesis struct {
	site *site.Site
	dir  string // of copies of disks

	// One thing at a time is done to a node, and to a client's process, however long it takes.
	nodes, clients []sync.Mutex

	mu     sync.Mutex
	done   []Done
	copies []string
	taken  int
}

// New makes one for a site. It keeps copies of disks in dir.
func New(s *site.Site, dir string) *Nemesis {
	return &Nemesis{site: s, dir: dir, nodes: make([]sync.Mutex, s.Size.Nodes), clients: make([]sync.Mutex, s.Clients)}
}

// Run returns when every fault of the plan was carried out and mended, or ctx has ended and
// those that had begun are mended. What could not be done says so in its Done.
func (n *Nemesis) Run(ctx context.Context, plan []Fault) {
	began := time.Now()
	var all sync.WaitGroup
	for _, f := range plan {
		if !sleep(ctx, f.At-time.Since(began)) {
			break
		}
		all.Go(func() { n.inflict(ctx, f) })
	}
	all.Wait()
}

// Done returns what was done so far, in order.
func (n *Nemesis) Done() []Done {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Clone(n.done)
	slices.SortFunc(all, func(a, b Done) int { return int(a.From - b.From) })
	return all
}

// errSkipped says that a fault needs what is not there.
var errSkipped = errors.New("not possible now")

// inflict mends what it breaks even if ctx ends before.
func (n *Nemesis) inflict(ctx context.Context, f Fault) {
	defer n.reserve(f)()
	d := &Done{Kind: f.Kind, From: history.Now()}
	err := n.act(f.Kind)(ctx, f, d)
	d.To = history.Now()
	switch {
	case errors.Is(err, errSkipped):
		d.Skipped, d.Detail = true, err.Error()
	case err != nil:
		d.Err = err.Error()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done = append(n.done, *d)
}

// reserve waits until nothing is done any more to what the fault is about, and returns how
// to let the next one have it.
func (n *Nemesis) reserve(f Fault) (release func()) {
	var all []*sync.Mutex
	add := func(of []sync.Mutex, which ...int) {
		slices.Sort(which)
		for _, i := range slices.Compact(which) {
			all = append(all, &of[i])
		}
	}
	switch f.Kind {
	case Loss, LossToNode, LossToClient, Refused, Delay, Late, Overtaken, Twice, ClockRate:
	case ClientStopped, ClientKilled, ClientStarved:
		add(n.clients, f.Client)
	case Replica:
		add(n.nodes, f.Node, f.Other)
	case Members:
		for i := range n.clients {
			add(n.clients, i)
		}
		for i := range n.nodes {
			add(n.nodes, i)
		}
	default:
		add(n.nodes, f.Node)
	}
	for _, mu := range all {
		mu.Lock()
	}
	return func() {
		for _, mu := range all {
			mu.Unlock()
		}
	}
}

// act is how a kind of fault is done. It returns when it is mended.
func (n *Nemesis) act(k Kind) func(context.Context, Fault, *Done) error {
	switch k {
	case Members:
		return n.changeMembers
	case ClientStopped:
		return n.stopClient
	case ClientKilled:
		return n.killClient
	case ClientStarved:
		return n.starveClient
	case Loss, LossToNode, LossToClient, Refused, Delay, Late, Overtaken, Twice:
		return n.onLinks
	default:
		return n.onNode
	}
}

// takeCopy keeps what a node has stored, for a disk that is replaced later: the latest three.
func (n *Nemesis) takeCopy(node *site.Node) error {
	n.mu.Lock()
	n.taken++
	to := filepath.Join(n.dir, fmt.Sprintf("%s-%d", node.Name, n.taken%3))
	n.mu.Unlock()
	if err := node.CopyDisk(to); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.copies = append(slices.DeleteFunc(n.copies, func(c string) bool { return c == to }), to)
	n.copies = n.copies[max(0, len(n.copies)-3):]
	return nil
}

// someCopy is one of those that were taken, and "" if there is none.
func (n *Nemesis) someCopy(amount int64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.copies) == 0 {
		return ""
	}
	return n.copies[uint64(amount)%uint64(len(n.copies))]
}

// forgetCopies is for when their markers are of another set of nodes.
func (n *Nemesis) forgetCopies() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.copies = nil
}

// sleep reports that ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
