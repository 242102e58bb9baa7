package diagnosis

import "time"

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
