// Package diagnosis checks Redis servers against the assumptions of Redlock.
//
// [Gather] collects facts from the servers and changes nothing on them. [Examine] judges the facts with one small
// function per assumption. Each check returns an [inspect.Result]; the backends of other systems return theirs in an
// [Examination].
package diagnosis

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// check is one assumption: what is asked of every node, or of all together.
type check struct {
	name string
	node func(Facts, Policy) inspect.Result
	all  func([]Facts, Policy) []inspect.Result
	info bool // it needs INFO
}

// checks in the order in which they are reported.
func checks() []check {
	return []check{
		{name: "connection", node: checkConnection},
		{name: "nodes", all: checkCount},
		{name: "addresses", all: checkAddresses},
		{name: "run_id", all: checkRunIDs},
		{name: "machines", all: checkMachines},
		{name: "version", node: checkVersion, info: true},
		{name: "guard", all: checkGuard},
		{name: "role", node: checkRole, info: true},
		{name: "eviction", node: checkEviction, info: true},
		{name: "evicted", node: checkEvicted, info: true},
		{name: "writes", node: checkWrites},
		{name: "persistence", node: checkPersistence, info: true},
		{name: "uptime", node: checkUptime, info: true},
		{name: "marker", node: checkMarker, info: true},
		{name: "clock", node: checkClock},
		{name: "clock drift", node: checkDrift},
		{name: "clocks", all: checkClocks},
		{name: "latency", node: checkLatency},
		{name: "scripts", node: checkScripts},
		{name: "rights", node: checkRights},
	}
}

// Examine judges the facts. A node that could not be asked fails one check and is
// left out of the others, save those that need only its address.
func Examine(facts []Facts, p Policy) []inspect.Result {
	p.nodes = len(facts)
	if p.now.IsZero() {
		p.now = time.Now()
	}
	if len(p.NodeNames) == 0 {
		for _, f := range facts {
			p.NodeNames = append(p.NodeNames, f.Node)
		}
	}
	var results []inspect.Result
	for _, c := range checks() {
		if c.all != nil {
			for _, r := range c.all(facts, p) {
				r.Check = c.name
				results = append(results, r)
			}
			continue
		}
		for _, f := range facts {
			if f.Err != nil && c.name != "connection" || f.NoInfo != nil && c.info {
				continue
			}
			r := c.node(f, p)
			r.Check, r.Node = c.name, f.Node
			results = append(results, r)
		}
	}
	return results
}

// Examination is what was found of a system beside Redis.
type Examination struct {
	Backend string
	inspect.Examination
	Clock Clock
	Ping  Latency
}

// ExamineSystem examines a system as the user that takes the locks, for p.For plus a moment, and changes nothing. Errors,
// also the end of ctx, are in its results.
func ExamineSystem(ctx context.Context, in inspect.Inspector, p Policy) Examination {
	e := Examination{Backend: in.System(), Examination: in.Examine(ctx, p.SessionTTL)}
	if e.Answers {
		e.Clock, e.Ping = sampleClock(ctx, p, in.Ping)
		node := ""
		if e.Clock.Samples > 0 {
			node = in.Address()
			e.Add("clock", node, judgeClock(e.Clock))
			e.Add("clock drift", node, judgeDrift(e.Clock))
		}
		e.Add("latency", node, judgeLatency(e.Ping, p, "no answer: ", "see the connection check"))
	}
	for i := range e.Results {
		e.Results[i].Backend = e.Backend
	}
	return e
}
