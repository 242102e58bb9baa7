// Package state is the document that a [live.Board] gives, a page shows and processes tell each other: what one
// knows about its locks at an instant.
//
// [live.Board]: https://pkg.go.dev/github.com/lockscope/lockscope/exporter/live#Board
package state

import "time"

// Bounds of a State.
const (
	// MaxSteps is how many steps an Acquisition has: the first half as they came, then
	// the latest.
	MaxSteps = 60
	// MaxChain is how many links of a chain a Blocked resource has.
	MaxChain = 16
	// SlowestFor is how long one of the slowest acquisitions is kept.
	SlowestFor = 5 * time.Minute
	// NodesFor is the time over which the health of nodes is told.
	NodesFor = time.Minute
	// HistoryFor is how long it is remembered who held a resource that somebody waited for.
	HistoryFor = 10 * time.Minute
)

// State is what a process knows about its locks at one instant. Durations are in
// seconds, offsets count from the start of what holds them.
//
// Totals and Blocked count everything; the other lists are bounded and say, here or in
// Omitted, of how many they are the first.
type State struct {
	At         time.Time     `json:"at"`
	Read       *float64      `json:"read_seconds,omitempty"` // ago: locks and waits are as the nodes told then; null: as they are at At
	Unread     string        `json:"unread,omitempty"`       // what locks and waits are not known of, and why; empty: of nothing
	Instance   string        `json:"instance"`               // who reports
	Totals     Totals        `json:"totals"`
	Objectives Objectives    `json:"objectives"`
	Deadlocks  []Deadlock    `json:"deadlocks"` // those that go on first, then the latest
	Blocked    []Blocked     `json:"blocked"`   // callers times longest wait decides the order
	Held       []Held        `json:"held"`      // oldest first
	Waiting    []Waiter      `json:"waiting"`   // longest first, some of each resource
	Waits      []WaitPoint   `json:"waits"`     // oldest first, one a second; seconds without a wait are left out
	Nodes      []Node        `json:"nodes"`     // in the order they were first seen
	Slowest    []Acquisition `json:"slowest"`   // slowest first, of the last minutes
	History    []History     `json:"history"`   // in the order of Blocked, then the latest
	Omitted    Omitted       `json:"omitted"`
	TraceURL   string        `json:"trace_url,omitempty"` // of a trace, with {traceID} in it
}

// Totals count what there is, listed or not.
type Totals struct {
	Held       int     `json:"held"`
	OldestHold float64 `json:"oldest_hold_seconds"`
	Waiting    int     `json:"waiting"`              // calls that wait for the resources of Blocked
	Contended  int     `json:"contended"`            // resources that somebody waits for
	Attempting int     `json:"attempting"`           // further calls, which have just begun
	Longest    float64 `json:"longest_wait_seconds"` // of the calls that wait now
	Recent     Recent  `json:"recent"`
}

// Recent is the last minute of Acquires. Those that have not ended count, too, with the
// time that they have waited so far: nothing is well while they hang.
type Recent struct {
	Ended  int     `json:"ended"`
	Failed int     `json:"failed"` // of those that ended
	P50    float64 `json:"p50_seconds"`
	P99    float64 `json:"p99_seconds"`
}

// Objectives are how long a wait may take; see live.WithObjectives.
type Objectives struct {
	Warning float64 `json:"warning_seconds"`
	Alarm   float64 `json:"alarm_seconds"`
}

// Omitted counts what the limits of a State left out.
type Omitted struct {
	Held    int `json:"held"`
	Waiting int `json:"waiting"`
	Blocked int `json:"blocked"`
}

// Held is one lock that is held.
type Held struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"` // name of the set of nodes, where that is known
	Holder   string   `json:"holder"`
	Age      float64  `json:"age_seconds"`
	Validity *float64 `json:"validity_seconds"` // left; null: never expires, or unknown
	Fence    uint64   `json:"fence,string,omitempty"`
	Extends  int      `json:"extends"`
	Waiters  int      `json:"waiters,omitempty"` // calls on this Board that wait for it
	CallSite string   `json:"call_site,omitempty"`
	TraceID  string   `json:"trace_id,omitempty"`
	Page     string   `json:"page,omitempty"`  // of another process that holds it
	Nodes    int      `json:"nodes,omitempty"` // that know the lock, where they were asked
}

// Waiter is one Acquire that has not ended.
type Waiter struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"`
	Instance string   `json:"instance"` // who waits
	For      float64  `json:"for_seconds"`
	Kind     string   `json:"kind"` // attempt, or a lock.WaitKind
	Attempts int      `json:"attempts"`
	Ahead    int      `json:"ahead"` // waiters in front, where known
	Blocker  *Blocker `json:"blocker,omitempty"`
	Holds    []string `json:"holds,omitempty"` // resources that its caller holds meanwhile
	Error    string   `json:"error,omitempty"` // of the last attempt, if it was not refused
	CallSite string   `json:"call_site,omitempty"`
	TraceID  string   `json:"trace_id,omitempty"`
	Page     string   `json:"page,omitempty"` // of another process that waits
}

// Blocker is who a Waiter waits for.
type Blocker struct {
	Holder       string   `json:"holder"` // instance; empty if the lock's value does not tell
	Here         bool     `json:"here"`   // it has the waiter's name
	Age          *float64 `json:"age_seconds,omitempty"`
	Remaining    *float64 `json:"remaining_seconds,omitempty"` // at most, unless renewed
	NeverExpires bool     `json:"never_expires,omitempty"`
	HandedOver   bool     `json:"handed_over,omitempty"` // nobody holds it; it is kept for the next waiter
	CallSite     string   `json:"call_site,omitempty"`
	TraceID      string   `json:"trace_id,omitempty"` // of the holder
	Page         string   `json:"page,omitempty"`     // where the holder's process shows its locks
}

// Blocked is a resource that somebody waits for.
type Blocked struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"`
	Waiting  int      `json:"waiting"`            // calls, all of them
	Listed   int      `json:"listed"`             // of them in State.Waiting
	Longest  float64  `json:"longest_seconds"`    // wait
	Failing  int      `json:"failing,omitempty"`  // whose last attempt failed, and was not refused
	Error    string   `json:"error,omitempty"`    // of the one of these that has waited longest
	Holder   *Blocker `json:"holder,omitempty"`   // null: nobody is known to hold it
	Chain    []Link   `json:"chain,omitempty"`    // what the holder waits for itself, who holds that, and so on; at most MaxChain
	Deadlock bool     `json:"deadlock,omitempty"` // it is part of a cycle, or waits behind one
}

// Link leads from a holder to what it waits for.
type Link struct {
	Resource string   `json:"resource"` // that the holder before waits for
	Backend  string   `json:"backend,omitempty"`
	For      float64  `json:"for_seconds"`
	CallSite string   `json:"call_site,omitempty"` // where it waits
	TraceID  string   `json:"trace_id,omitempty"`  // of the call that waits
	Holder   *Blocker `json:"holder,omitempty"`    // of Resource
}

// Deadlock is a cycle: the holder of each resource waits for the next one, and that of
// the last for the first. A lock.Trace told of it, or two looks at the Board have seen it
// unchanged.
type Deadlock struct {
	Found float64 `json:"found_seconds"`  // ago
	Over  bool    `json:"over,omitempty"` // it is not there any more
	Cycle []Link  `json:"cycle"`
}

// History is who held a resource while somebody waited for it, in the last 10 minutes.
type History struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"`
	Holds    []Tenure `json:"holds"` // latest first
	Omitted  int      `json:"omitted,omitempty"`
}

// Tenure is one lease that has ended, or a holder elsewhere that waiters were told of.
type Tenure struct {
	Holder    string  `json:"holder"`
	Ended     float64 `json:"ended_seconds"` // ago; of a holder elsewhere, when a waiter was last told of it
	Took      float64 `json:"took_seconds"`
	Elsewhere bool    `json:"elsewhere,omitempty"`
	CallSite  string  `json:"call_site,omitempty"`
	TraceID   string  `json:"trace_id,omitempty"`
}

// WaitPoint is one second of finished Acquires.
type WaitPoint struct {
	At     time.Time `json:"at"`
	Count  int       `json:"count"`
	Failed int       `json:"failed"`
	P50    float64   `json:"p50_seconds"`
	P99    float64   `json:"p99_seconds"`
}

// Node is the health of one node as its commands tell, over the last minute.
type Node struct {
	Name     string   `json:"name"`
	Up       bool     `json:"up"`    // it answered the last command, and may vote
	State    string   `json:"state"` // one of the NodeState constants
	Backend  string   `json:"backend,omitempty"`
	Calls    int      `json:"calls"`
	Failures int      `json:"failures"`
	P50      float64  `json:"p50_seconds"`
	P99      float64  `json:"p99_seconds"`
	Quiet    *float64 `json:"quiet_seconds"` // since its last answer; null: never
	Error    string   `json:"error,omitempty"`
	Restart  *Restart `json:"restart,omitempty"` // while locks that it forgot can be valid
}

// The states of a Node.
const (
	NodeUp          = "up"
	NodeQuarantined = "quarantined" // it answers, and may not vote yet: see Restart
	NodeBarred      = "barred"      // it answers, and may not vote as it is: see Error
	NodeDown        = "down"        // it does not answer
)

// Restart says that a node may have forgotten locks.
type Restart struct {
	Noticed   float64 `json:"noticed_seconds"` // ago
	Witnessed bool    `json:"witnessed"`       // else the node was young when it was first met
	Left      float64 `json:"left_seconds"`    // how long locks from before can still be valid
	Enforced  bool    `json:"enforced"`        // it does not vote until then; if not, it votes
}

// Acquisition is one finished Acquire and where its time went.
type Acquisition struct {
	Resource string    `json:"resource"`
	Backend  string    `json:"backend,omitempty"`
	At       time.Time `json:"at"` // start
	Took     float64   `json:"took_seconds"`
	Outcome  string    `json:"outcome"` // acquired, or lock.Reason of the error
	Error    string    `json:"error,omitempty"`
	TraceID  string    `json:"trace_id,omitempty"`
	Steps    []Step    `json:"steps"` // by start; at most MaxSteps
	Omitted  int       `json:"steps_omitted,omitempty"`
}

// Step is a part of an Acquisition.
type Step struct {
	Kind    string  `json:"kind"` // attempt, node or wait
	Name    string  `json:"name"` // "attempt 1", the node's name, or the kind of wait
	Attempt int     `json:"attempt"`
	Start   float64 `json:"start_seconds"`
	Took    float64 `json:"took_seconds"`
	Outcome string  `json:"outcome"`          // granted, refused, failed; for waits woken, handed_over, timeout, or lock.Reason of what ended the call
	Detail  string  `json:"detail,omitempty"` // error, or who was waited for
}

// Seconds is how durations are told where there may be none.
func Seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
