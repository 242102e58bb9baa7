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

// BackendNode has the facts of one of its servers.
type BackendNode struct {
	Node    string
	Err     error // why it could not be asked
	Version string
	Role    string
	Uptime  time.Duration
	Clock   Clock
	Ping    Latency
}

// Add notes what a check says of a node; "" for all of them.
func (e *Examination) Add(check, node string, r Result) {
	r.Backend, r.Check, r.Node = e.Backend, check, node
	e.Results = append(e.Results, r)
}

// SampleLatency times a call again and again, as observe does.
func SampleLatency(ctx context.Context, during time.Duration, call func() error) (l Latency) {
	var took []time.Duration
	for began, round := time.Now(), 0; ctx.Err() == nil &&
		(time.Since(began) < during || round < fewestRounds); round++ {
		if !l.time(&took, call) {
			break // each further round would take as long to fail
		}
		pause(ctx, pace)
	}
	l.fill(took)
	return l
}
