package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStandstill goes by when there was a grant, not by when it is looked at.
func TestStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		out := newScreen(&text)
		l := newLedger(true)
		grants, stop := l.follow(anyResource)
		defer stop()
		still := &standstill{out: out, last: time.Now()}
		for i, pause := range []time.Duration{noticeable / 2, 2 * noticeable, noticeable / 2} {
			time.Sleep(pause)
			held := lease(uint64(i + 1))
			l.granted(grant{lease: held, instance: "a"})
			l.ended(held, false)
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
		l.granted(grant{lease: lease(4), instance: "a"})
		time.AfterFunc(noticeable, func() { l.granted(grant{lease: lease(5), instance: "b"}) })
		if !still.awaitGrant(t.Context(), grants) || still.longest < 4*noticeable {
			t.Errorf("longest %v", still.longest)
		}
	})
}
