package scanner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

const (
	// syncWait is how long a replica may take to catch up with what its master had
	// when the sweep began.
	syncWait = time.Second
	syncPoll = 20 * time.Millisecond
)

// standing is what the servers of a node say of their places. It is asked for before and
// after the pages: only what is the same both times was so while they were read.
type standing struct {
	master redisinfo.Info
	pages  redisinfo.Info // the replica's if pages are read there, else the master's
	view   server.ClusterView
	viewed bool
}

// standing asks the node's servers.
func (n *nodeSweep) standing(ctx context.Context) (s standing, err error) {
	n.report.Calls++
	if s.master, err = server.Info(ctx, n.Master); err != nil {
		return s, err
	}
	s.pages = s.master
	if n.Pages != n.Master {
		n.report.Calls++
		if s.pages, err = server.Info(ctx, n.Pages); err != nil {
			return s, fmt.Errorf("replica: %w", err)
		}
	}
	if n.Source.Cluster == nil && s.master["cluster_enabled"] != "1" {
		return s, nil
	}
	n.report.Calls++
	s.view, err = server.View(ctx, n.Master)
	s.viewed = err == nil
	if err != nil && redisconn.IsReply(err) {
		gap(&n.report, ReasonSlotsUncovered, "which slots it serves it does not tell (%v): grant +cluster|nodes", redisconn.Scrub(err))
		err = nil
	}
	return s, err
}

// clustered says that the node is one of a cluster.
func (s *standing) clustered() bool { return s.viewed || s.master["cluster_enabled"] == "1" }

// admit says whether the servers are what they were named as, and takes down what that
// leaves unproved. An error says that reading them would tell nothing.
func (n *nodeSweep) admit(ctx context.Context, s *standing) error {
	switch role := s.master.Role(); {
	case role == "slave" && s.clustered():
		return ErrNotMaster
	case role == "slave":
		gap(&n.report, ReasonReplica, "it is a replica: name its master, and it as the replica to read from (--replica)")
	case role == "":
		gap(&n.report, ReasonRoleUnknown, "it does not tell whether it is a master: grant +info")
	}
	if n.Pages == n.Master {
		return nil
	}
	return n.admitReplica(ctx, s)
}

// admitReplica waits a moment for the replica to have what its master had.
func (n *nodeSweep) admitReplica(ctx context.Context, s *standing) error {
	if s.strange() {
		return ErrNotReplica
	}
	for end := n.cfg.now().Add(syncWait); s.lag() > 0 && n.cfg.now().Before(end) && clock.Pause(ctx, syncPoll); {
		n.report.Calls++
		var err error
		if s.pages, err = server.Info(ctx, n.Pages); err != nil {
			return fmt.Errorf("replica: %w", err)
		}
	}
	if text := s.unsynced(); text != "" {
		gap(&n.report, ReasonReplica, "%s: read the node itself, or mend the replica", text)
	}
	return nil
}

// strange says that the replica has no data of the master's.
func (s *standing) strange() bool {
	of, replica := s.master["master_replid"], s.pages
	if of == "" || replica["master_replid"] == "" {
		return false // it cannot be told: see unsynced
	}
	return replica["master_replid"] != of && replica["master_replid2"] != of
}

// lag is by how many bytes the replica is behind, as long as it follows at all.
func (s *standing) lag() int64 {
	if !s.follows() {
		return 0
	}
	return s.master.Number("master_repl_offset") - s.pages.Number("slave_repl_offset")
}

// follows says that the replica gets what its master has.
func (s *standing) follows() bool {
	return s.pages.Role() == "slave" && s.pages["master_link_status"] == "up" && s.pages.Number("master_sync_in_progress") == 0
}

// unsynced says why the replica is not proved to have what the master had, if it is not.
func (s *standing) unsynced() string {
	switch {
	case s.pages.Role() == "" || s.master["master_replid"] == "" || s.pages["master_replid"] == "":
		return "the replica or its node does not tell whom it follows"
	case s.pages.Role() != "slave":
		return "the replica is one no more"
	case !s.follows():
		return "the replica's link to its master is down"
	case s.lag() > 0:
		return fmt.Sprintf("the replica is %d bytes behind", s.lag())
	}
	return ""
}

// compare takes down what of the node was proved to be read by a pass that began at
// before and ended at after.
func (n *nodeSweep) compare(before, after *standing) {
	if before.pages.RunID() != after.pages.RunID() {
		gap(&n.report, ReasonNodeFailed, "its process is another one than at the start of the pass: sweep again")
		return
	}
	if n.Pages != n.Master && before.unsynced() == "" {
		if text := after.unsynced(); text != "" && after.lag() == 0 {
			gap(&n.report, ReasonReplica, "%s since the sweep began: sweep again", text)
		}
	}
	n.cover(before, after)
}

// cover takes down which slots the node served all the time.
func (n *nodeSweep) cover(before, after *standing) {
	n.covered.whole = true
	if !before.viewed || !after.viewed {
		return
	}
	c := &n.covered
	c.moving = before.view.Moving().Union(after.view.Moving())
	c.assigned = before.view.Assigned.Union(after.view.Assigned)
	c.read = before.view.Own.Both(after.view.Own).Without(c.moving)
	for _, r := range c.read.Ranges() {
		n.report.Slots = append(n.report.Slots, SlotRange(r))
	}
	if n.Source.Cluster == nil {
		for _, g := range c.missing() {
			gap(&n.report, g.Reason, "%s", g.Detail)
		}
	}
}

// Errors of a node that is not what it was named as.
var (
	// ErrNotMaster says that a node is a replica of a Redis Cluster, which answers for
	// no key.
	ErrNotMaster = errors.New("it is a replica of a Redis Cluster and answers for no key: name the cluster as a cluster (--cluster)")
	// ErrNotReplica says that the server of [WithReplicas] is none of its node.
	ErrNotReplica = errors.New("the replica is none of this node, or was never in sync with it: see WithReplicas (--replica)")
)
