package livetest

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// Scene is a moment in the life of a process, as a Board over engines on nodes in memory reports it.
type Scene struct {
	Name  string // as file names have it
	State func(*testing.T) state.State
}

// Scenes are those that the page has to explain at a glance. Each State runs in fake time.
func Scenes() []Scene {
	return []Scene{
		{"contention", Contention}, {"deadlock", Deadlock}, {"lost-lease", LostLease}, {"crowd", Crowd},
		{"node-hung", NodeHung}, {"two-of-five-down", TwoOfFiveDown}, {"no-quorum", NoQuorum},
		{"three-of-five-hung", ThreeOfFiveHung}, {"no-traffic", NoTraffic}, {"two-backends", TwoBackends},
	}
}

// Contention has callers wait for four locks, whose holders are in two processes. The holder of the first waits itself.
func Contention(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		nodes := w.nodes(5)
		contend(w, w.here(nodes), w.process(billing, nodes))
	})
}

func contend(w *world, here, there lock.Locker) {
	w.hold(here, "report:daily")
	w.traffic(here, 6)
	time.Sleep(2 * time.Minute)
	w.hold(there, "stock:eu-central-1:991")
	w.hold(there, "invoice:2024-11")
	order := w.hold(here, "order:1001")
	w.wait(order.Context(), here, 1, "stock:eu-central-1:991", 300*time.Millisecond)
	w.wait(w.ctx, here, 6, "order:1001", 200*time.Millisecond)
	w.wait(w.ctx, here, 3, "invoice:2024-11", 100*time.Millisecond)
	time.Sleep(600 * time.Millisecond)
	w.wait(w.ctx, here, 1, "report:daily", 400*time.Millisecond)
}

// Deadlock has two callers hold what the other waits for, and others wait behind both.
func Deadlock(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		here := w.here(w.nodes(5))
		w.traffic(here, 6)
		time.Sleep(2 * time.Minute)
		invoice, ledger := w.hold(here, "invoice:2024-11"), w.hold(here, "ledger:2024")
		w.wait(invoice.Context(), here, 1, "ledger:2024", 50*time.Millisecond)
		w.wait(ledger.Context(), here, 1, "invoice:2024-11", 50*time.Millisecond)
		w.wait(w.ctx, here, 4, "invoice:2024-11", time.Second)
		time.Sleep(8 * time.Second)
	})
}

// LostLease has a process crash that held a lock for twenty seconds at a time: its lease ends by itself.
func LostLease(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		nodes := w.nodes(5)
		here := w.here(nodes, lock.WithPollInterval(time.Second))
		crashes := w.process(billing, nodes)
		shown, err := w.board.Wrap(crashes, live.WithLockerInstance(billing))
		must(w.t, err)
		w.traffic(here, 6)
		time.Sleep(2 * time.Minute)
		for range 3 { // who held it before
			must(w.t, w.hold(here, "order:1001").Release(w.ctx))
			time.Sleep(time.Second)
		}
		w.hold(shown, "order:1001", lock.TTL(20*time.Second))
		w.hold(shown, "mail:welcome", lock.TTL(5*time.Second))
		w.wait(w.ctx, here, 1, "mail:welcome", time.Second)
		w.wait(w.ctx, here, 3, "order:1001", 500*time.Millisecond)
		must(w.t, crashes.Close())
		time.Sleep(12 * time.Second)
	})
}

// Crowd has 1,000 callers wait for one lock.
func Crowd(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		nodes := w.nodes(5)
		here, there := w.here(nodes), w.process(billing, nodes)
		w.traffic(here, 6)
		time.Sleep(2 * time.Minute)
		w.hold(there, "order:1001")
		w.wait(w.ctx, here, Waiters, "order:1001", 5*time.Millisecond)
		time.Sleep(3 * time.Second)
	})
}

// NodeHung has one of five nodes hang while callers contend: nobody fails.
func NodeHung(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		nodes := w.nodes(5)
		here, there := w.here(nodes), w.process(billing, nodes)
		w.traffic(here, 6)
		time.Sleep(100 * time.Second)
		nodes[2].Freeze()
		w.t.Cleanup(nodes[2].Thaw)
		time.Sleep(20 * time.Second)
		w.hold(there, "invoice:2024-11")
		w.wait(w.ctx, here, 3, "invoice:2024-11", 500*time.Millisecond)
	})
}

// refused is what the address of a dead server answers.
func refused(port int) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 3, 17), Port: port},
		Err: syscall.ECONNREFUSED}
}

// TwoOfFiveDown has two of five nodes refuse connections: a quorum is left, and none to spare.
func TwoOfFiveDown(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		nodes := w.nodes(5)
		here, there := w.here(nodes), w.process(billing, nodes)
		w.traffic(here, 6)
		time.Sleep(100 * time.Second)
		nodes[1].Deny(refused(6379))
		time.Sleep(8 * time.Second)
		nodes[2].Deny(refused(6379))
		time.Sleep(20 * time.Second)
		w.hold(there, "invoice:2024-11")
		w.wait(w.ctx, here, 3, "invoice:2024-11", 500*time.Millisecond)
	})
}

// NoQuorum has two of three nodes refuse connections.
func NoQuorum(t *testing.T) state.State {
	return outage(t, 3, func(w *world, n *memlock.Node) { n.Deny(refused(6379)) })
}

// ThreeOfFiveHung has three of five nodes hang.
func ThreeOfFiveHung(t *testing.T) state.State {
	return outage(t, 5, func(w *world, n *memlock.Node) {
		n.Freeze()
		w.t.Cleanup(n.Thaw)
	})
}

// outage takes a majority of n nodes out for 21 seconds.
func outage(t *testing.T, n int, out func(*world, *memlock.Node)) state.State {
	return inWorld(t, func(w *world) {
		nodes := w.nodes(n)
		here := w.here(nodes)
		w.traffic(here, 4)
		time.Sleep(100 * time.Second)
		w.hold(here, "report:daily")
		for _, n := range nodes[:n/2+1] {
			out(w, n)
		}
		w.wait(w.ctx, here, 3, "order:1001", 100*time.Millisecond)
		w.wait(w.ctx, here, 2, "stock:42", 100*time.Millisecond)
		w.wait(w.ctx, here, 1, "mail:welcome", 100*time.Millisecond)
		time.Sleep(20 * time.Second)
	})
}

// NoTraffic has nobody call any more.
func NoTraffic(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		here := w.here(w.nodes(5))
		for range 20 {
			must(w.t, w.hold(here, "report:daily").Release(w.ctx))
			time.Sleep(time.Second)
		}
		time.Sleep(4 * time.Minute)
	})
}

// TwoBackends has a process take locks on Redis, and on a database that is down.
func TwoBackends(t *testing.T) state.State {
	return inWorld(t, func(w *world) {
		redis, database := w.nodes(5), w.nodes(1)
		here, there := w.here(redis), w.process(billing, redis)
		onDatabase := w.here(database, lock.WithBackend("postgresql"), lock.WithNodeNames("pg-main:5432"))
		w.traffic(here, 6)
		time.Sleep(100 * time.Second)
		w.hold(there, "order:1001")
		must(w.t, w.hold(onDatabase, "order:1001").Release(w.ctx))
		database[0].Deny(refused(5432))
		w.wait(w.ctx, here, 3, "order:1001", 300*time.Millisecond)
		w.wait(w.ctx, onDatabase, 2, "order:1001", 300*time.Millisecond)
		w.wait(w.ctx, onDatabase, 1, "ledger:2024", 300*time.Millisecond)
		time.Sleep(3 * time.Second)
	})
}
