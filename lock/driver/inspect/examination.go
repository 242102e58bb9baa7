package inspect

import "time"

// ReachTimeout is how long one question of an examination may take.
const ReachTimeout = 5 * time.Second

// Examination is what checks have found of a system.
type Examination struct {
	Nodes   []Node
	Results []Result
	Answers bool // calls of locks are answered: see Ping of [Inspector]
}

// Node has the facts of one server.
type Node struct {
	Node    string
	Err     error // why it could not be asked
	Version string
	Role    string
	Uptime  time.Duration // 0 if unknown
}

// Add notes what a check says of a node; "" for all of them.
func (e *Examination) Add(check, node string, r Result) {
	r.Check, r.Node = check, node
	e.Results = append(e.Results, r)
}
