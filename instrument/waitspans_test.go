package instrument_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestSpansSayWhyACallWaits: the span of each wait has its class.
func TestSpansSayWhyACallWaits(t *testing.T) {
	for want, fault := range map[locktrace.Wait]func(t *testing.T, nodes memlock.Nodes){
		locktrace.WaitHolder: func(t *testing.T, nodes memlock.Nodes) {
			_, other := onNodes(t, nodes, "billing/1")
			_, err := other.Acquire(t.Context(), "job")
			must(t, err)
		},
		locktrace.WaitNoQuorum: func(_ *testing.T, nodes memlock.Nodes) { nodes.NoQuorum() },
	} {
		t.Run(string(want), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				fault(t, nodes)
				m, err := memlock.New(nodes, lock.WithInstance("orders/1"))
				must(t, err)
				defer func() { must(t, m.Close()) }()
				s := new(spans)
				l := wrap(t, m, instrument.WithTracerProvider(s.provider()))
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, _ = l.Acquire(ctx, "job")
				waits := s.named("lock.wait")
				if len(waits) == 0 {
					t.Fatal("no span of a wait")
				}
				for _, wait := range waits {
					wantAttrs(t, wait, "distributed_lock.wait.class="+string(want))
				}
			})
		})
	}
}
