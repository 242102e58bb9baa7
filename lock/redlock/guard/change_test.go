package guard

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// third is a configuration that is neither the old nor the new one.
var third = NewFingerprint([]string{"a", "b", "f"}, time.Minute)

// changeSet is a list of servers on which a change is carried out: the first three are the old set, all five the new
// one.
type changeSet struct {
	t       *testing.T
	servers []*actServer
	members Members
}

func newChangeSet(t *testing.T) *changeSet {
	servers, members := newActServers(5)
	c := &changeSet{t, servers, members}
	for _, s := range servers[:3] {
		s.marker = votingMarker(ours, s.runID, 0)
	}
	return c
}

// again returns the same servers as another process sees them.
func (c *changeSet) again(nodes ...int) (members Members) {
	for _, i := range nodes {
		members = append(members, &Member{Name: c.members[i].Name, Conn: c.servers[i]})
	}
	return members
}

// change returns the act from one set of servers to another. A node in both sets is one member.
func (c *changeSet) change(from []int, was Fingerprint, to []int, is Fingerprint) *Change {
	all := c.again(0, 1, 2, 3, 4)
	of := func(nodes []int) (m Members) {
		for _, i := range nodes {
			m = append(m, all[i])
		}
		return m
	}
	return &Change{From: of(from), To: of(to), Old: was, New: is, Length: time.Minute, Wrap: wrapName}
}

// grow is the change from three nodes to five.
func (c *changeSet) grow() *Change {
	return c.change([]int{0, 1, 2}, ours, []int{0, 1, 2, 3, 4}, theirs)
}

// shrink is its reverse.
func (c *changeSet) shrink() *Change {
	return c.change([]int{0, 1, 2, 3, 4}, theirs, []int{0, 1, 2}, ours)
}

func (c *changeSet) run(change *Change) error {
	_, err := change.Run(c.t.Context())
	return err
}

// wait advances the clocks until another act counts as abandoned.
func (c *changeSet) wait() {
	for _, s := range c.servers {
		s.now += (changeLasts + time.Second).Microseconds()
	}
}

func (c *changeSet) markers() (all []string) {
	for _, s := range c.servers {
		all = append(all, s.marker)
	}
	return all
}

// stands reports how many servers vote for the configuration, or are about to.
func (c *changeSet) stands(f Fingerprint) (n int) {
	for _, s := range c.servers {
		if m, ok := ParseMarker(s.marker); ok && m.Fingerprint == f && m.State != Changing {
			n++
		}
	}
	return n
}

func (c *changeSet) want(err, want error) {
	c.t.Helper()
	if !errors.Is(err, want) {
		c.t.Errorf("%v, want %v", err, want)
	}
}

// TestAChangeLeavesNoOldQuorum, and needs every node that joins: one that does not answer may vote for the old set, or
// may have been in it.
func TestAChangeLeavesNoOldQuorum(t *testing.T) {
	for name, x := range map[string]struct {
		away []int // 0 to 2 are in both sets, 3 and 4 join
		want error
	}{
		"all there":            {nil, nil},
		"an old one away":      {[]int{0}, nil},
		"an old quorum away":   {[]int{0, 1}, ErrNotReached},
		"one that joins away":  {[]int{3}, ErrNotReached},
		"a new quorum is away": {[]int{0, 3, 4}, ErrNotReached},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cut := range []bool{false, true} { // when it is read, or when it is marked
				c := newChangeSet(t)
				for _, i := range x.away {
					if cut {
						c.servers[i].cut = errDown
					} else {
						c.servers[i].down = errDown
					}
				}
				before := c.markers()
				away, err := c.grow().Run(t.Context())
				c.want(err, x.want)
				if err == nil && (len(away) != len(x.away) || c.stands(theirs) != 5-len(away)) {
					t.Errorf("away %v, and the servers have %q", away, c.markers())
				}
				if err != nil && !slices.Equal(c.markers(), before) {
					t.Errorf("%v, and the servers have %q", err, c.markers())
				}
			}
		})
	}
}

// TestAnOldQuorumThatIsAwayMayStillVote, although a quorum of the new set has the new configuration: the change has not
// been made.
func TestAnOldQuorumThatIsAwayMayStillVote(t *testing.T) {
	c := newChangeSet(t)
	for _, s := range c.servers[2:] {
		s.marker = votingMarker(theirs, s.runID, 0)
	}
	c.servers[0].down, c.servers[1].down = errDown, errDown
	c.want(c.run(c.change([]int{0, 1, 2}, ours, []int{2, 3, 4}, theirs)), ErrNotReached)
}

// TestAStaleChange is refused before anything is marked, and the error names the configuration of each node.
func TestAStaleChange(t *testing.T) {
	c := newChangeSet(t)
	c.want(c.run(c.grow()), nil)
	before := c.markers()
	err := c.run(c.change([]int{0, 1, 2}, ours, []int{0, 1, 2}, third))
	c.want(err, ErrStale)
	for _, text := range []string{"n0: ", theirs.String(), ours.String()} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want one that says %q", err, text)
		}
	}
	if !slices.Equal(c.markers(), before) {
		t.Errorf("the servers have %q", c.markers())
	}
	c.want(c.run(c.grow()), ErrAlreadyChanged)
}

// TestOfTwoChangesAtOnceOneWins, on whichever node they meet first. The same holds for two equal changes.
func TestOfTwoChangesAtOnceOneWins(t *testing.T) {
	for _, target := range []Fingerprint{third, theirs} {
		for at := range 5 {
			for _, after := range []bool{false, true} {
				c := newChangeSet(t)
				var second error
				begin := func(s *actServer) {
					s.beforeMark, s.afterMark = nil, nil
					other := c.change([]int{0, 1, 2}, ours, []int{0, 1, 2, 3, 4}, target)
					second = c.run(other)
				}
				if after {
					c.servers[at].afterMark = begin
				} else {
					c.servers[at].beforeMark = begin
				}
				first := c.run(c.grow())
				if (first == nil) == (second == nil) {
					t.Errorf("at node %d, after %t: %v and %v", at, after, first, second)
				}
				won, lost := c.stands(theirs), c.stands(third)
				if second == nil && target == third {
					won, lost = lost, won
				}
				if won != 5 || lost != 0 || c.stands(ours) != 0 {
					t.Errorf("at node %d, after %t: the servers have %q", at, after, c.markers())
				}
			}
		}
	}
}

// TestAChangeThatWasCutOff can be finished or undone at any point. Every other act is refused until then.
func TestAChangeThatWasCutOff(t *testing.T) {
	for cut := 1; cut <= 10; cut++ { // five marks and five beginnings
		for name, next := range map[string]func(*changeSet) *Change{"finished": (*changeSet).grow,
			"undone": (*changeSet).shrink} {
			c := newChangeSet(t)
			c.cutOff(cut)
			if err := c.run(c.change([]int{0, 1, 2}, ours, []int{0, 1, 2}, third)); !errors.Is(err, ErrStale) {
				t.Errorf("another change after %d steps: %v", cut, err)
			}
			if cut < 6 { // no node has the new configuration yet
				err := c.run(c.change([]int{0, 1, 2, 3, 4}, theirs, []int{0, 1, 2}, third))
				if !errors.Is(err, ErrStale) {
					t.Errorf("the next change after %d steps: %v", cut, err)
				}
			}
			c.wait()
			err := c.run(next(c))
			if name == "finished" && c.stands(theirs) != 5 || name == "undone" &&
				(c.stands(ours) != 3 || c.stands(theirs) != 0) {
				t.Errorf("%s after %d steps: %v, and the servers have %q", name, cut, err, c.markers())
			}
			if err != nil && (name == "undone" || !errors.Is(err, ErrAlreadyChanged)) {
				t.Errorf("%s after %d steps: %v", name, cut, err)
			}
		}
	}
}

// TestAChangeDoesNotShortenTheQuarantineOfAnEarlierOne: leases from before both may be valid for longer than either of its
// own configurations allows. Of a node that has left its set long ago, nothing counts.
func TestAChangeDoesNotShortenTheQuarantineOfAnEarlierOne(t *testing.T) {
	for _, cut := range []int{0, 2, 5, 7} { // calls after which the first run of the second change dies; 0: never
		c := newChangeSet(t)
		first := c.grow()
		first.Length = 10 * time.Minute
		c.want(c.run(first), nil)
		second := func() *Change { return c.change([]int{0, 1, 2, 3, 4}, theirs, []int{1, 2, 3}, third) }
		if cut > 0 {
			c.cut(second(), cut)
			c.wait()
		}
		if err := c.run(second()); err != nil && !errors.Is(err, ErrAlreadyChanged) {
			t.Errorf("after %d calls: %v", cut, err)
		}
		for i, s := range c.servers[1:4] {
			if m, _ := ParseMarker(s.marker); m.State != Quarantined || m.Fingerprint != third || m.Length != 10*time.Minute {
				t.Errorf("after %d calls, node %d has %q", cut, i+1, s.marker)
			}
			s.marker = votingMarker(third, s.runID, 0)
		}
		c.want(c.run(c.change([]int{1, 2, 3}, third, []int{0, 1, 2}, ours)), nil)
		if m, _ := ParseMarker(c.servers[0].marker); m.Fingerprint != ours || m.Length != time.Minute {
			t.Errorf("once that is over, a node that had left has %q", c.servers[0].marker)
		}
	}
}

// cutOff is a change from three nodes to five that dies after this many calls.
func (c *changeSet) cutOff(calls int) { c.cut(c.grow(), calls) }

// cut runs a change that dies after this many calls.
func (c *changeSet) cut(change *Change, calls int) {
	var left atomic.Int64
	left.Store(int64(calls))
	for _, m := range change.nodes() {
		m.Conn = &dyingConn{MemberConn: m.Conn, left: &left}
	}
	_, _ = change.Run(c.t.Context())
}

// dyingConn is a connection of a process that dies.
type dyingConn struct {
	MemberConn
	left *atomic.Int64
}

func (d *dyingConn) dies() bool { return d.left.Add(-1) < 0 }

func (d *dyingConn) Mark(ctx context.Context, m Mark) (int, string, error) {
	if d.dies() {
		return 0, "", errDown
	}
	return d.MemberConn.Mark(ctx, m)
}

func (d *dyingConn) Replace(ctx context.Context, prefix, marker string) (bool, error) {
	if d.dies() {
		return false, errDown
	}
	return d.MemberConn.Replace(ctx, prefix, marker)
}

// TestAChangeThatFailsNamesWhoMayBeMarked: a node that took the mark whose answer was lost never votes by itself.
func TestAChangeThatFailsNamesWhoMayBeMarked(t *testing.T) {
	for name, x := range map[string]struct {
		at           int // a node; 3 joins, so the change needs its answer
		sent         bool
		answer       error
		second, ends bool // the second round fails, the caller has given up
		named        bool
	}{
		"the answer was lost":          {at: 3, sent: true, answer: io.EOF, named: true},
		"the second round fails, too":  {at: 0, sent: true, answer: io.EOF, second: true, named: true},
		"the message was lost":         {at: 3, answer: io.EOF, named: true}, // who sent it cannot know
		"it refused":                   {at: 3, answer: replyError("NOPERM")},
		"it was busy":                  {at: 3, answer: replyError("BUSY")},
		"the caller gave up before":    {at: 3, sent: true, ends: true},
		"the second round fails alone": {at: 3, sent: true, second: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChangeSet(t)
			ctx, end := context.WithCancel(t.Context())
			if x.ends {
				end()
			}
			defer end()
			if x.second {
				c.servers[4].afterMark = func(s *actServer) { s.cuts = 1 }
			}
			change := c.grow()
			m := change.nodes()[x.at]
			m.Conn = &lossyConn{m.Conn, x.sent, x.answer}
			_, err := change.Run(ctx)
			if err == nil {
				t.Fatal("it did not fail")
			}
			text := m.Name + ": it may be marked: its answer was lost"
			if strings.Contains(err.Error(), text) != x.named || x.named && !strings.Contains(err.Error(), "to undo it") {
				t.Errorf("%v, want %q: %t", err, text, x.named)
			}
		})
	}
}

// lossyConn is a connection whose marks are answered with an error.
type lossyConn struct {
	MemberConn
	sent   bool // they take effect
	answer error
}

func (l *lossyConn) Mark(ctx context.Context, m Mark) (code int, marker string, err error) {
	if l.sent {
		code, marker, err = l.MemberConn.Mark(ctx, m)
	}
	return code, marker, cmp.Or(l.answer, err)
}

// TestAChangeUnderWay is not taken over for a while.
func TestAChangeUnderWay(t *testing.T) {
	c := newChangeSet(t)
	c.cutOff(2)
	before := c.markers()
	c.want(c.run(c.grow()), ErrBusy)
	c.want(c.run(c.shrink()), ErrBusy)
	if !slices.Equal(c.markers(), before) {
		t.Errorf("the servers have %q", c.markers())
	}
}

// TestWhoWasAwayJoins: a node that did not answer joins later, without a quarantine on the others.
func TestWhoWasAwayJoins(t *testing.T) {
	for name, join := range map[string]func(*changeSet) *Change{
		"the same again": (*changeSet).grow,
		"the new one as both": func(c *changeSet) *Change {
			return c.change([]int{0, 1, 2, 3, 4}, theirs, []int{0, 1, 2, 3, 4}, theirs)
		},
	} {
		c := newChangeSet(t)
		c.servers[1].down = errDown
		c.want(c.run(c.grow()), nil)
		before := c.markers()
		c.servers[1].down = nil
		c.wait()
		c.want(c.run(join(c)), nil)
		after := c.markers()
		if c.stands(theirs) != 5 || before[1] == after[1] {
			t.Errorf("%s: the servers have %q", name, after)
		}
		before[1] = after[1]
		if !slices.Equal(before, after) {
			t.Errorf("%s: before %q, after %q", name, before, after)
		}
	}
}

// TestWhoIsToBeJoinedHasGoneOn: another change has come and gone since the others were read.
func TestWhoIsToBeJoinedHasGoneOn(t *testing.T) {
	c := newChangeSet(t)
	c.servers[1].down = errDown
	c.want(c.run(c.grow()), nil)
	c.servers[1].down = nil
	c.wait()
	c.servers[1].beforeMark = func(s *actServer) {
		s.beforeMark, s.down = nil, errDown
		c.want(c.run(c.change([]int{0, 1, 2, 3, 4}, theirs, []int{0, 2, 3}, third)), nil)
		s.down = nil
	}
	c.want(c.run(c.grow()), ErrBusy)
	if c.stands(third) != 3 || c.stands(theirs) != 0 || c.stands(ours) != 1 {
		t.Errorf("the servers have %q", c.markers())
	}
}

// TestMarksThatAreReplacedDoNotCount: before the last mark is made, another change undoes this one.
func TestMarksThatAreReplacedDoNotCount(t *testing.T) {
	c := newChangeSet(t)
	c.servers[4].afterMark = func(s *actServer) {
		s.afterMark = nil
		c.wait()
		c.want(c.run(c.shrink()), nil)
	}
	if err := c.run(c.grow()); !errors.Is(err, ErrBusy) || !errors.Is(err, ErrNotReached) {
		t.Errorf("%v", err)
	}
	if c.stands(ours) != 3 || c.stands(theirs) != 0 {
		t.Errorf("the servers have %q", c.markers())
	}
}

// TestAQuorumHasToKnow: two halves of an even set might each have another change. A node that was wiped has none.
func TestAQuorumHasToKnow(t *testing.T) {
	c := newChangeSet(t)
	c.servers[3].marker = votingMarker(ours, "run3", 0)
	c.servers[0].down, c.servers[1].down = errDown, errDown
	c.want(c.run(c.change([]int{0, 1, 2, 3}, ours, []int{2, 3, 4}, third)), ErrNotReached)

	c = newChangeSet(t)
	c.servers[0].marker, c.servers[1].down = "", errDown
	c.want(c.run(c.grow()), ErrNotReached)
	c.servers[1].down = nil
	c.want(c.run(c.grow()), nil)

	c = newChangeSet(t) // no node was read before
	for _, s := range c.servers {
		s.marker = ""
	}
	c.want(c.run(c.grow()), nil)
}
