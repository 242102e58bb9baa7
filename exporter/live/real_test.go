package live_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestYoungNodeIsTold: the only node votes although it may have forgotten locks, which the State reports.
func TestYoungNodeIsTold(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	l, err := redlock.Open([]string{"redis://" + s.Addr()}, lock.WithNodeTimeout(nodeTimeout))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	board := newBoard(t)
	must(t, acquire(t, wrap(t, board, l), "order:1001").Release(t.Context()))
	r := stateOf(board).Nodes[0].Restart
	if r == nil || r.Witnessed || r.Enforced || r.Left < 30 || r.Left > 61 || r.Noticed > 30 {
		t.Errorf("%+v", r)
	}
}
