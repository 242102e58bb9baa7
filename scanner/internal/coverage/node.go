package coverage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/report"
)

// errSentinel reports a Sentinel, which has no keys.
var errSentinel = errors.New("it is a Sentinel and has no keys: give the name of the master that it watches " +
	"(--sentinel-master), or the data servers")

const (
	// syncWait is how long a replica may take to catch up with what its master had
	// when the sweep began.
	syncWait = time.Second
	syncPoll = 20 * time.Millisecond
)

// Node is one master, with what its servers report about themselves.
type Node struct {
	node.Connection
	Slots  Slots              // of a cluster's node: what was read of its slots
	Report *report.NodeReport // takes the gaps, and the calls
	Others []inspect.Gap      // databases of the server that are not read

	now func() time.Time
}

// NewNode makes a Node that writes to the report.
func NewNode(c node.Connection, r *report.NodeReport, now func() time.Time) *Node {
	return &Node{Connection: c, Report: r, now: now}
}

// Ask asks the node's servers.
func (n *Node) Ask(ctx context.Context) (s Standing, err error) {
	n.Report.Calls++
	if s.master, err = node.Info(ctx, n.Master); err != nil {
		return s, err
	}
	n.Others = n.others(s.master)
	s.Pages = s.master
	if n.Pages != n.Master {
		n.Report.Calls++
		if s.Pages, err = node.Info(ctx, n.Pages); err != nil {
			return s, fmt.Errorf("replica: %w", err)
		}
	}
	if n.Source.Cluster == nil && s.master["cluster_enabled"] != "1" {
		return s, nil
	}
	n.Report.Calls++
	s.View, err = node.View(ctx, n.Master)
	s.viewed = err == nil
	if err != nil && redisconn.IsReply(err) {
		Note(n.Report, inspect.ReasonSlotsUncovered, "the node does not report its slots (%v): grant +cluster|nodes",
			redisconn.Scrub(err))
		err = nil
	}
	return s, err
}

// others notes databases of the server that have keys.
func (n *Node) others(info redisinfo.Info) (all []inspect.Gap) {
	for _, db := range info.Databases() {
		if keys, _, _ := info.Keyspace(db); db != n.Source.DB && keys > 0 {
			opt := *n.Master.Options()
			opt.DB = db
			all = append(all, inspect.Gap{Node: n.Node, Reason: inspect.ReasonDatabases, Detail: fmt.Sprintf(
				"db%d of %s has %d keys, not read: scan it, too (--redis redis://%s)", db, opt.Addr, keys, redisconn.Name(&opt))})
		}
	}
	return all
}

// Admit checks whether the servers are what they were given as, and records what that leaves unproved. An error means
// that reading them would prove nothing.
func (n *Node) Admit(ctx context.Context, s *Standing) error {
	switch role := s.master.Role(); {
	case role == "slave" && s.clustered():
		return report.ErrNotMaster
	case role == "slave":
		Note(n.Report, inspect.ReasonReplica,
			"the node is a replica: give its master, and this server as its replica (--replica)")
	case role == "" && s.master["redis_mode"] == "sentinel":
		return errSentinel
	case role == "":
		Note(n.Report, inspect.ReasonRoleUnknown, "the node does not report whether it is a master: grant +info")
	}
	if n.Pages == n.Master {
		return nil
	}
	return n.admitReplica(ctx, s)
}

// admitReplica waits a moment for the replica to catch up with its master.
func (n *Node) admitReplica(ctx context.Context, s *Standing) error {
	if s.strange() {
		return report.ErrNotReplica
	}
	for end := n.now().Add(syncWait); s.lag() > 0 && n.now().Before(end) && clock.Pause(ctx, syncPoll); {
		n.Report.Calls++
		var err error
		if s.Pages, err = node.Info(ctx, n.Pages); err != nil {
			return fmt.Errorf("replica: %w", err)
		}
	}
	if text := s.unsynced(); text != "" {
		Note(n.Report, inspect.ReasonReplica, "%s: read the node itself, or repair the replica", text)
	}
	return nil
}

// Compare records what a pass from before to after is proved to have read of the node.
func (n *Node) Compare(before, after *Standing) {
	if before.Pages.RunID() != after.Pages.RunID() {
		Note(n.Report, inspect.ReasonNodeFailed, "the server process changed during the pass: sweep again")
		return
	}
	if n.Pages != n.Master && before.unsynced() == "" {
		if text := after.unsynced(); text != "" && after.lag() == 0 {
			Note(n.Report, inspect.ReasonReplica, "%s since the sweep began: sweep again", text)
		}
	}
	n.Cover(before, after)
}

// Cover records which slots the node served all the time.
func (n *Node) Cover(before, after *Standing) {
	n.Slots.Whole = true
	if !before.viewed || !after.viewed {
		return
	}
	c := &n.Slots
	c.Moving = before.View.Moving().Union(after.View.Moving())
	c.Assigned = before.View.Assigned.Union(after.View.Assigned)
	c.Read = before.View.Own.Both(after.View.Own).Without(c.Moving)
	for _, r := range c.Read.Ranges() {
		n.Report.Slots = append(n.Report.Slots, report.SlotRange(r))
	}
	if n.Source.Cluster == nil {
		for _, g := range c.missing() {
			Note(n.Report, g.Reason, "%s", g.Detail)
		}
	}
}
