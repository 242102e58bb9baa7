//go:build linux

package nemesis

import "time"

// Kind is what a fault is called in reports.
type Kind string

// The kinds of faults.
const (
	Loss          Kind = "loss, both ways"
	LossToNode    Kind = "loss, to the node"
	LossToClient  Kind = "loss, to the client"
	Refused       Kind = "connections cut and refused"
	Delay         Kind = "delay"
	Late          Kind = "held and delivered late"
	Overtaken     Kind = "one connection overtaken"
	Twice         Kind = "delivered twice"
	ClientStopped Kind = "client SIGSTOP"
	ClientKilled  Kind = "client SIGKILL"
	ClientStarved Kind = "client starved"
	NodeStopped   Kind = "node SIGSTOP"
	NodeRestarted Kind = "node SIGKILL, restarted with data"
	NodeWiped     Kind = "node SIGKILL, restarted empty"
	DiskReplaced  Kind = "disk replaced by an older copy"
	Flushed       Kind = "FLUSHALL"
	FlushStep     Kind = "FLUSHALL, clock stepped"
	RestartStep   Kind = "node restarted, clock stepped"
	ClockRate     Kind = "clock rate"
	Replica       Kind = "REPLICAOF another and back"
	ReadOnly      Kind = "min-replicas-to-write"
	DiskFull      Kind = "disk full"
	Busy          Kind = "busy script"
	ScriptFlush   Kind = "SCRIPT FLUSH"
	Disconnected  Kind = "CLIENT KILL"
	Members       Kind = "members changed"
)

// kind says how often one is drawn, and plans one.
type kind struct {
	name   Kind
	weight int
	plan   func(p *planner) (Fault, bool)
}

const (
	// maxRate is by how much a node's clock runs too fast or too slow, in parts in a billion:
	// with two nodes at the ends, less than the 1 % that the promise allows.
	maxRate = 4_000_000
	// maxStep is the most that a clock is off. Fences are floored by the clients' clocks,
	// which a node believes for ten seconds.
	maxStep = 5 * time.Second
)

var kinds = []kind{
	{Loss, 6, onLinks(100*time.Millisecond, 4*time.Second, 0)},
	{LossToNode, 4, onLinks(100*time.Millisecond, 4*time.Second, 0)},
	{LossToClient, 5, onLinks(100*time.Millisecond, 4*time.Second, 0)},
	{Refused, 3, onLinks(100*time.Millisecond, 3*time.Second, 0)},
	{Delay, 6, onLinks(time.Second, 6*time.Second, 90)},
	{Late, 6, onLinks(200*time.Millisecond, 5*time.Second, 0)},
	{Overtaken, 5, onLinks(500*time.Millisecond, 4*time.Second, 0)},
	{Twice, 6, onLinks(time.Second, 6*time.Second, 32)},
	{ClientStopped, 7, onClient(100*time.Millisecond, 5*time.Second)},
	{ClientKilled, 5, onClient(0, time.Second)},
	{ClientStarved, 5, onClient(2*time.Second, 6*time.Second)},
	{NodeStopped, 7, onNode(100*time.Millisecond, 5*time.Second)},
	{NodeRestarted, 5, onForgetful(0, 2*time.Second)},
	{NodeWiped, 4, onForgetful(0, 2*time.Second)},
	{DiskReplaced, 4, onForgetful(0, time.Second)},
	{Flushed, 4, onForgetful(0, 0)},
	{FlushStep, 4, stepped(0)},
	{RestartStep, 3, stepped(time.Second)},
	{ClockRate, 4, planRate},
	{Replica, 5, planReplica},
	{ReadOnly, 3, onNode(500*time.Millisecond, 4*time.Second)},
	{DiskFull, 3, onNode(2*time.Second, 5*time.Second)},
	{Busy, 4, onNode(100*time.Millisecond, 2*time.Second)},
	{ScriptFlush, 2, onNode(0, 0)},
	{Disconnected, 3, onNode(0, 0)},
}

func onLinks(least, most time.Duration, amount int64) func(*planner) (Fault, bool) {
	return func(p *planner) (f Fault, ok bool) {
		if f.For, ok = p.lasting(least, most); !ok {
			return f, false
		}
		if amount > 0 {
			f.Amount = 5 + p.rand.Int64N(amount)
		}
		f.Links, ok = p.freeLinks(f.For)
		return f, ok
	}
}

func onClient(least, most time.Duration) func(*planner) (Fault, bool) {
	return func(p *planner) (f Fault, ok bool) {
		if f.For, ok = p.lasting(least, most); !ok {
			return f, false
		}
		f.Amount = 60 + p.rand.Int64N(31) // of a starved one: milliseconds of each 100
		f.Client, ok = p.freeClient(f.For)
		return f, ok
	}
}

func onNode(least, most time.Duration) func(*planner) (Fault, bool) {
	return func(p *planner) (f Fault, ok bool) {
		if f.For, ok = p.lasting(least, most); !ok {
			return f, false
		}
		f.Node, ok = p.freeNode(f.For)
		return f, ok
	}
}

func onForgetful(least, most time.Duration) func(*planner) (Fault, bool) {
	return func(p *planner) (f Fault, ok bool) {
		if f.For, ok = p.lasting(least, most); !ok {
			return f, false
		}
		f.Amount = p.rand.Int64()
		f.Node, ok = p.forgetful(f.For + time.Second)
		return f, ok
	}
}

// stepped steps a clock in the instant in which its node begins to be silent, so that it
// is silent for much longer than any lock lives: a node that is silent may still extend.
func stepped(most time.Duration) func(*planner) (Fault, bool) {
	return func(p *planner) (f Fault, ok bool) {
		if f, ok = onForgetful(0, most)(p); !ok {
			return f, false
		}
		f.Amount = p.rand.Int64N(int64(2*maxStep)) - int64(maxStep) // how far it is off from then on
		return f, true
	}
}

// planRate is in force until the node's next. It comes with no fault to be kept apart from.
func planRate(p *planner) (f Fault, ok bool) {
	f.For, ok = p.lasting(5*time.Second, 20*time.Second)
	f.Node, f.Amount = p.rand.IntN(p.members), p.rand.Int64N(2*maxRate+1)-maxRate
	return f, ok
}

func planReplica(p *planner) (f Fault, ok bool) {
	if p.members < 2 {
		return f, false
	}
	if f, ok = onForgetful(2*time.Second, 4*time.Second)(p); !ok {
		return f, false
	}
	f.Other, ok = p.freeNode(f.For)
	return f, ok
}
