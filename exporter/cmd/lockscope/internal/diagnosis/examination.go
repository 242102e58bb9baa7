package diagnosis

import (
	"context"
	"time"
)

// Examination is what was found of a system beside Redis.
type Examination struct {
	Backend string
	Nodes   []BackendNode
	Results []Result
}

// BackendNode is what one server of it told.
type BackendNode struct {
	Node    string
	Err     error // why it could not be asked
	Version string
	Role    string
	Uptime  time.Duration
	Clock   Clock
	Ping    Latency
}

// add notes what a check says of a node; "" for all of them.
func (e *Examination) add(check, node string, r Result) {
	r.Backend, r.Check, r.Node = e.Backend, check, node
	e.Results = append(e.Results, r)
}

// sampleLatency times a call again and again, as observe does.
func sampleLatency(ctx context.Context, during time.Duration, call func() error) (l Latency) {
	var took []time.Duration
	for began, round := time.Now(), 0; ctx.Err() == nil && (time.Since(began) < during || round < fewestRounds); round++ {
		if !l.time(&took, call) {
			break // each further round would take as long to fail
		}
		pause(ctx, pace)
	}
	l.fill(took)
	return l
}

// judgeLatency is checkLatency for a system whose round trip is more than a ping.
func judgeLatency(l Latency, p Policy) Result {
	if l.Count == 0 {
		return fail("no answer: "+errorText(l.Err), "see connection")
	}
	return checkLatency(Facts{Ping: l}, p)
}
