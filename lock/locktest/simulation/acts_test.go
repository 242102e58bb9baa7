package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// change is a change of the set of nodes in a history. A set is always the first nodes.
type change struct {
	from, to int
	after    time.Duration
	away     int  // the node that cannot be reached meanwhile; -1 if all can
	stale    bool // joining nodes keep a marker of an earlier membership
}

// fingerprint identifies the clients' configuration: the set of nodes at the end.
func (p *plan) fingerprint() guard.Fingerprint {
	if p.change != nil {
		return fingerprintOf(p.change.to)
	}
	return fingerprintOf(len(p.rates))
}

// fingerprintOf identifies the set of the first n nodes.
func fingerprintOf(n int) guard.Fingerprint {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i)
	}
	return guard.NewFingerprint(names, simMaxTTL)
}

// planChange returns the number of all nodes.
func (p *plan) planChange(r *rand.Rand) int {
	// The joining nodes are a minority of five nodes, and a quorum of seven.
	c := &change{from: 3, to: 5 + 2*r.IntN(2), after: upTo(r, 2*time.Second), away: -1, stale: chance(r, 0.5)}
	if chance(r, 0.5) {
		c.from, c.to = c.to, c.from
	}
	if chance(r, 0.5) {
		c.away = r.IntN(min(c.from, c.to))
	}
	p.change = c
	return max(c.from, c.to)
}

// members returns the number of nodes on which a client votes. In a change, every other client has the old set.
func (p *plan) members(client int) int {
	switch {
	case p.change == nil:
		return len(p.rates)
	case client%2 == 1:
		return p.change.from
	}
	return p.change.to
}

// first reports that the act must run before any process of the new configuration: the joining nodes alone are a quorum
// and would vote for it.
func (c *change) first() bool { return c.to-c.from > c.to/2 }

// prepare lets the nodes vote for the old configuration, and in some histories the joining nodes for the new one.
func (c *change) prepare(h *history) {
	for i, s := range h.servers {
		switch {
		case i < c.from:
			s.Vouch(fingerprintOf(c.from))
		case c.stale:
			s.Vouch(fingerprintOf(c.to))
		}
	}
}

// actTimeout bounds each message of an act: some arrive later.
const actTimeout = 4 * simNodeTimeout

// asMembers returns the connections of an act.
func (h *history) asMembers(seed uint64, n int, faults locktest.Faults) (all guard.Members, closeAll func()) {
	var conns []*locktest.FakeMember
	for i, s := range h.servers[:n] {
		conn := s.Member(h.plan.seed*1000+seed*10+uint64(i), faults, actTimeout)
		conns = append(conns, conn)
		all = append(all, &guard.Member{Name: s.Name(), Conn: conn})
	}
	return all, func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}
}

func unnamed(_ string, err error) error { return err }

// vouch runs the acts of vouching. Nobody vouches for nodes that have all forgotten their locks: no trace on any of them
// would contradict that, and a lease may still be valid.
func (h *history) vouch() {
	for i, after := range h.plan.vouches {
		time.Sleep(after)
		if h.granted() && !slices.ContainsFunc(h.servers, h.hasTraces) {
			continue
		}
		faults := h.clients[0].faults[0]
		faults.Duplicate, faults.DuplicateAfter = 0.5, locktest.Between(0, simLateBy)
		members, closeAll := h.asMembers(uint64(i), len(h.servers), faults)
		v := &guard.Vouch{Members: members, Fingerprint: h.plan.fingerprint(), Length: simQuarantine, Wrap: unnamed}
		if h.plant.vouch != nil {
			h.plant.vouch(h, v)
		}
		h.log("    vouched for %d nodes: %v", len(v.Members), v.Run(context.Background()))
		closeAll()
	}
}

func (h *history) granted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.leases) > 0
}

func (h *history) hasTraces(s *locktest.FakeServer) bool {
	return slices.ContainsFunc(h.plan.locks(), func(name string) bool { return s.Counter(lock.DefaultPrefix+name) > 0 })
}

// reconfigure runs the act of changing the set until it succeeds.
func (h *history) reconfigure() {
	c := h.plan.change
	if c == nil {
		return
	}
	defer close(h.changed)
	time.Sleep(c.after)
	for try := uint64(0); ; try++ {
		away, err := h.changeOnce(try, c.from, c.to, c.away)
		h.log("    changed from %d to %d nodes: %v away, %v", c.from, c.to, away, err)
		if err == nil || errors.Is(err, guard.ErrAlreadyChanged) {
			return
		}
		if try > manyTries {
			h.violate("I8 the set of nodes cannot be changed: %v", err)
			return
		}
		time.Sleep(beforeNextTry(err))
	}
}

// beforeNextTry is longer if the marks of the previous try could not be taken back.
func beforeNextTry(err error) time.Duration {
	if errors.Is(err, guard.ErrBusy) {
		return time.Second
	}
	return 100 * time.Millisecond
}

// badTries is how many tries of an act meet network faults.
const badTries = 3

// manyTries suffice for an act to succeed: nodes do not stay down longer.
const manyTries = 60

func (h *history) changeOnce(try uint64, from, to, without int) ([]string, error) {
	faults := h.clients[0].faults[0]
	if try >= badTries {
		faults = (&plan{calm: true}).linkFaults(nil)
	}
	members, closeAll := h.asMembers(100+try, max(from, to), faults)
	defer closeAll()
	if without >= 0 {
		members[without].Conn = unreachable{members[without].Conn}
	}
	act := &guard.Change{
		From: members[:from], To: members[:to], Old: fingerprintOf(from), New: fingerprintOf(to), Length: simQuarantine,
		Wrap: unnamed,
	}
	if h.plant.change != nil {
		h.plant.change(act)
	}
	return act.Run(context.Background())
}

// joinLate joins a node that was down when the others changed. If too few nodes have changed, because a late message of
// the act undid it, the whole act is repeated.
func (h *history) joinLate() {
	c := h.plan.change
	if c == nil {
		return
	}
	for try := uint64(lateTries); ; try++ {
		from := c.to
		if try%2 == 1 {
			from = c.from
		}
		away, err := h.changeOnce(try, from, c.to, -1)
		h.log("    joined late: %v away, %v", away, err)
		if (err == nil || errors.Is(err, guard.ErrAlreadyChanged)) && len(away) == 0 {
			return
		}
		if try > lateTries+manyTries {
			h.violate("I8 a node cannot join late: %v away, %v", away, err)
			return
		}
		time.Sleep(beforeNextTry(err))
	}
}

// lateTries is where the acts after the faults begin to count.
const lateTries = 100

// unreachable is a node that does not answer an act.
type unreachable struct{ guard.MemberConn }

var errUnreachable = errors.New("unreachable")

func (unreachable) Info(context.Context) (string, error) { return "", errUnreachable }
