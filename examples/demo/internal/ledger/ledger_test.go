package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// stub is a lease that is valid for as long as it says.
type stub struct {
	lock.Lease
	resource string
	fence    uint64
	left     time.Duration
}

func (s *stub) Resource() string         { return s.resource }
func (s *stub) Fence() uint64            { return s.fence }
func (s *stub) Remaining() time.Duration { return s.left }
func (s *stub) Context() context.Context { return context.Background() }

func lease(fence uint64) *stub { return &stub{resource: "r", fence: fence, left: time.Second} }

func TestLedgerCountsHandoffs(t *testing.T) {
	l := New(true)
	for i, instance := range []string{"a", "a", "b", "a"} {
		held := lease(uint64(i + 1))
		l.Granted(Grant{Lease: held, Instance: instance})
		l.Ended(held, instance == "b")
	}
	e := l.close()[0]
	if e.acquisitions != 4 || e.handoffs != 2 || e.lost != 1 || e.disordered != 0 || e.overlaps != 0 {
		t.Errorf("%+v", e)
	}
}

func TestLedgerNoticesFencesOutOfOrder(t *testing.T) {
	tests := []struct {
		name   string
		second *stub
		before uint64
		want   int
	}{
		{"higher", lease(11), 10, 0},
		{"equal", lease(10), 10, 1},
		{"lower", lease(9), 10, 1},
		{"lower, recorded late after its lease was over", &stub{resource: "r", fence: 9}, 8, 0},
		{"lower than before it began, and recorded late", &stub{resource: "r", fence: 9}, 10, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := New(true)
			first := lease(10)
			l.Granted(Grant{Lease: first, Instance: "a"})
			l.Ended(first, false)
			l.Granted(Grant{Lease: test.second, Instance: "b", Before: test.before})
			if got := l.close()[0].disordered; got != test.want {
				t.Errorf("disordered %d, want %d", got, test.want)
			}
		})
	}
}

func TestLedgerWithoutFences(t *testing.T) {
	l := New(false)
	for range 2 {
		l.Granted(Grant{Lease: lease(0), Instance: "a"})
	}
	e := l.close()[0]
	if e.disordered != 0 || e.overlaps != 1 || order(e) != "none; HELD TWICE 1 times" {
		t.Errorf("%+v, %s", e, order(e))
	}
}

func TestLedgerNoticesTwoHolders(t *testing.T) {
	l := New(true)
	first := lease(1)
	l.Granted(Grant{Lease: first, Instance: "a"})
	first.left = 0
	l.Granted(Grant{Lease: lease(2), Instance: "b"})
	if n := l.close()[0].overlaps; n != 0 {
		t.Errorf("an expired lease counted as a second holder")
	}
	l.Granted(Grant{Lease: lease(3), Instance: "c"})
	if n := l.close()[0].overlaps; n != 1 {
		t.Errorf("overlaps %d, want 1", n)
	}
	if _, held := l.Acquisitions(); held != 1 {
		t.Errorf("held %d, want 1", held)
	}
}

func TestFollowerHearsOfItsResourceOnly(t *testing.T) {
	l := New(true)
	all, stopAll := l.Follow(AnyResource)
	defer stopAll()
	grants, stop := l.Follow("r")
	l.Granted(Grant{Lease: &stub{resource: "other"}, Instance: "a"})
	l.Granted(Grant{Lease: lease(1), Instance: "b"})
	stop()
	l.Granted(Grant{Lease: lease(2), Instance: "c"})
	if g := <-grants; g.Instance != "b" || len(grants) != 0 {
		t.Errorf("got %s and %d more", g.Instance, len(grants))
	}
	if len(all) != 3 {
		t.Errorf("who follows all got %d of 3", len(all))
	}
}
