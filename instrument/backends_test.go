package instrument_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestBackendsAreToldApart: two sets of nodes in one process, whose nodes have the same names, have separate series
// with the name of their backend.
func TestBackendsAreToldApart(t *testing.T) {
	reg := prometheus.NewRegistry()
	recorded := new(spans)
	for name, nodes := range map[string]int{"orders": 3, "reports": 1} {
		engine, err := memlock.New(memlock.NewNodes(nodes), lock.WithBackend(name))
		must(t, err)
		t.Cleanup(func() { must(t, engine.Close()) })
		l, err := instrument.Wrap(engine, instrument.WithRegisterer(reg),
			instrument.WithTracerProvider(recorded.provider()))
		must(t, err)
		must(t, lock.Do(t.Context(), l, "job", func(context.Context, lock.Lease) error { return nil }))
		for metric, want := range map[string]float64{"nodes": float64(nodes), "quorum_nodes": float64(nodes/2 + 1)} {
			if got := gather(t, l, metric, "backend", name); got != want {
				t.Errorf("%s of %s is %v, want %v", metric, name, got, want)
			}
		}
		// A node may answer after a quorum of the others has decided.
		eventually(t, name+": mem1 was asked once", func() bool {
			return gather(t, l, "node_duration_seconds", "lock_node", "mem1", "backend", name, "operation",
				"acquire") == 1
		})
	}
	for _, s := range recorded.named("lock.acquire") {
		wantAttrs(t, s, "db.system.name=memory", "db.operation.name=lock.acquire")
		return
	}
	t.Error("no span of a node")
}
