package state

import "github.com/lockscope/lockscope/lock/decorate"

// Node is the health of one node over the last minute, as its commands show.
type Node struct {
	Name      string   `json:"name"`
	Up        bool     `json:"up"`                      // it answered the last command and may vote
	State     string   `json:"state"`                   // one of the NodeState constants
	Since     *float64 `json:"state_seconds,omitempty"` // in that state, for how long; null: unknown
	Backend   string   `json:"backend,omitempty"`
	Calls     int      `json:"calls"` // commands that were sent to it
	Failures  int      `json:"failures"`
	Failing   bool     `json:"failing,omitempty"`   // more than 1 % of them failed
	NotAsked  int      `json:"not_asked,omitempty"` // commands that were not sent because of its state
	P50       float64  `json:"p50_seconds"`
	P99       float64  `json:"p99_seconds"`
	Quiet     *float64 `json:"quiet_seconds"`           // since its last answer; null: never
	Asked     *float64 `json:"asked_seconds,omitempty"` // since the command that shows State; null: not known
	Error     string   `json:"error,omitempty"`
	ErrorAge  *float64 `json:"error_seconds,omitempty"`      // since Error; null: unknown
	ClockSkew *float64 `json:"clock_skew_seconds,omitempty"` // how far its clock is ahead of the process's; null: unknown
	Restart   *Restart `json:"restart,omitempty"`            // set while locks that it forgot can be valid
}

// The states of a Node.
const (
	NodeUp          = string(decorate.NodeUp)
	NodeShaky       = string(decorate.NodeShaky)       // it votes, and a tenth of its commands or more failed
	NodeQuarantined = string(decorate.NodeQuarantined) // it answers but may not vote yet: see Restart
	NodeBarred      = string(decorate.NodeBarred)      // it answers but may not vote in its present state: see Error
	NodeDown        = string(decorate.NodeDown)        // it does not answer
	NodeUnknown     = string(decorate.NodeUnknown)     // it was not asked for two minutes
)

// Restart says that a node may have forgotten locks.
type Restart struct {
	Noticed   float64 `json:"noticed_seconds"`   // ago
	Evicted   bool    `json:"evicted,omitempty"` // it did not restart, but evicted keys
	Witnessed bool    `json:"witnessed"`         // false: the node had started shortly before the first contact
	Left      float64 `json:"left_seconds"`      // how long earlier locks can still be valid
	Enforced  bool    `json:"enforced"`          // true: it does not vote until then; false: it votes
}

// Votes reports whether the node answers and may vote. Sources that know only whether it answers leave State empty.
func (n *Node) Votes() bool {
	return (decorate.NodeState(n.State).Votes() || n.State == "" && n.Up) && (n.Restart == nil || !n.Restart.Enforced)
}
