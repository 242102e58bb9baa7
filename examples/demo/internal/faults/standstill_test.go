package faults

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/lock"
)

// stub is a lease that is valid.
type stub struct {
	lock.Lease
	fence uint64
}

func (s *stub) Resource() string         { return "r" }
func (s *stub) Fence() uint64            { return s.fence }
func (s *stub) Remaining() time.Duration { return time.Second }

func lease(fence uint64) lock.Lease { return &stub{fence: fence} }

// TestStandstill goes by when there was a grant, not by when it is looked at.
func TestStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		out := screen.New(&text)
		l := ledger.New(true)
		grants, stop := l.Follow(ledger.AnyResource)
		defer stop()
		still := &standstill{out: out, last: time.Now()}
		for i, pause := range []time.Duration{noticeable / 2, 2 * noticeable, noticeable / 2} {
			time.Sleep(pause)
			held := lease(uint64(i + 1))
			l.Granted(ledger.Grant{Lease: held, Instance: "a"})
			l.Ended(held, false)
		}
		time.Sleep(3 * noticeable)
		still.follow(t.Context(), grants, noticeable)
		if still.longest != 2*noticeable || strings.Count(text.String(), "first grant for 1.00s") != 1 ||
			still.String() != ", and nothing for 1.00s" {
			t.Errorf("longest %v, %q; %q", still.longest, still, &text)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if still.awaitGrant(ended, grants) {
			t.Error("there was no grant")
		}
		l.Granted(ledger.Grant{Lease: lease(4), Instance: "a"})
		time.AfterFunc(noticeable, func() { l.Granted(ledger.Grant{Lease: lease(5), Instance: "b"}) })
		if !still.awaitGrant(t.Context(), grants) || still.longest < 4*noticeable {
			t.Errorf("longest %v", still.longest)
		}
	})
}
