package exporter_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// connected is a source with given values.
type connected []engine.NodeConnections

func (c connected) Connections() []engine.NodeConnections { return c }

func oneConnected() connected {
	return connected{{Node: "redis-1", Backend: locktrace.Backend{System: "redis", Name: "orders"},
		Connections: driver.Connections{Open: 3, Busy: 1, Waiting: 7, Dials: 9, DialFailures: 4}}}
}

// TestConnections: every value, and one series if two engines have the same node.
func TestConnections(t *testing.T) {
	var none *engine.Engine
	c := exporter.NewConnectionCollector(oneConnected(), nil, none, oneConnected())
	problems, err := testutil.CollectAndLint(c)
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	must(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP distributed_lock_connection_dial_failures_total Failed attempts to connect to the node.
# TYPE distributed_lock_connection_dial_failures_total counter
distributed_lock_connection_dial_failures_total{backend="orders",lock_node="redis-1"} 8
# HELP distributed_lock_connection_dials_total Attempts to connect to the node, including failed ones.
# TYPE distributed_lock_connection_dials_total counter
distributed_lock_connection_dials_total{backend="orders",lock_node="redis-1"} 18
# HELP distributed_lock_connection_waiting Commands that wait for a connection to the node.
# TYPE distributed_lock_connection_waiting gauge
distributed_lock_connection_waiting{backend="orders",lock_node="redis-1"} 14
# HELP distributed_lock_connections Open connections to the node, by state: busy or idle.
# TYPE distributed_lock_connections gauge
distributed_lock_connections{backend="orders",lock_node="redis-1",state="busy"} 2
distributed_lock_connections{backend="orders",lock_node="redis-1",state="idle"} 4
`)))
}

// TestConnectionsOfEngines: connections of Redis are served, those of a driver that does not report them are not.
func TestConnectionsOfEngines(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	engine, err := redlock.Open([]string{"redis://" + server.Addr()}, redlock.WithRestartQuarantine(0),
		lock.WithNodeTimeout(2*time.Second))
	must(t, err)
	defer engine.Close()
	inMemory, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	defer inMemory.Close()
	e := newExporter(t, exporter.WithConnections(engine), exporter.WithConnections(inMemory, nil))
	must(t, lock.Do(t.Context(), engine, "order:1", func(context.Context, lock.Lease) error { return nil }))
	_, text := get(e, "/metrics")
	contains(t, text, `distributed_lock_connections{backend="redis",lock_node="`+server.Addr()+`",state="`,
		`distributed_lock_connection_dial_failures_total{backend="redis",lock_node="`+server.Addr()+`"} 0`)
	if n := strings.Count(text, "\ndistributed_lock_connection_dials_total{"); n != 1 {
		t.Errorf("%d nodes have connections, want one", n)
	}
	if strings.Contains(text, `distributed_lock_connection_dials_total{backend="redis",lock_node="`+server.Addr()+
		`"} 0`) {
		t.Error("no dial was counted")
	}
}
