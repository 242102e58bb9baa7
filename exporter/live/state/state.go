// Package state is the document of a [live.Board]: what a process knows about its locks at one instant. The page
// shows it, and processes exchange it.
//
// [live.Board]: https://pkg.go.dev/github.com/lockscope/lockscope/exporter/live#Board
package state

import (
	"time"
)

// Bounds of a State.
const (
	// MaxSteps is how many steps an Acquisition has at most: the first half in order, then the latest.
	MaxSteps = 60
	// MaxChain is how many links the chain of a Blocked resource has at most.
	MaxChain = 16
	// SlowestFor is how long one of the slowest acquisitions is kept.
	SlowestFor = 5 * time.Minute
	// HistoryFor is how long past holders of contended resources are kept.
	HistoryFor = 10 * time.Minute
	// MaxInflicted is how many holders State.Inflicted has at most.
	MaxInflicted = 20
	// HandedOver is the Holder of Inflicted for the time in which nobody held the lock: it was kept for the next waiter.
	HandedOver = "being handed over"
)

// State is what a process knows about its locks at one instant. Durations are in seconds. Offsets count from the
// start of the object that has them.
//
// Totals and Blocked count everything. The other lists are bounded; their own fields or Omitted say how many there
// are.
type State struct {
	At         time.Time     `json:"at"`
	Read       *float64      `json:"read_seconds,omitempty"` // since the nodes were read; null: as of At
	Unread     string        `json:"unread,omitempty"`       // which locks and waits are unknown, and why; empty: none
	Instance   string        `json:"instance"`               // the reporting process
	Totals     Totals        `json:"totals"`
	Objectives Objectives    `json:"objectives"`
	Deadlocks  []Deadlock    `json:"deadlocks"` // current ones first, then the latest
	Blocked    []Blocked     `json:"blocked"`   // ordered by callers times longest wait, elections last
	Held       []Held        `json:"held"`      // oldest first
	Waiting    []Waiter      `json:"waiting"`   // longest wait first, some of each resource
	Waits      []WaitPoint   `json:"waits"`     // oldest first, one per second; seconds without a wait are left out
	Nodes      []Node        `json:"nodes"`     // by backend and name
	Sets       []NodeSet     `json:"sets"`      // of Nodes, in that order
	Stalls     []Stall       `json:"stalls"`    // oldest first, within the time of Waits
	Slowest    []Acquisition `json:"slowest"`   // slowest first, of the last minutes
	History    []History     `json:"history"`   // in the order of Blocked, then the latest first
	Inflicted  []Inflicted   `json:"inflicted"` // who made others wait longest in the last 10 minutes, longest first
	Omitted    Omitted       `json:"omitted"`
	TraceURL   string        `json:"trace_url,omitempty"` // URL of a trace, with {traceID} in it
}

// Totals count everything, listed or not.
type Totals struct {
	Held       int     `json:"held"`
	OldestHold float64 `json:"oldest_hold_seconds"`
	Waiting    int     `json:"waiting"`              // calls that wait for resources in Blocked, without candidates
	Contended  int     `json:"contended"`            // resources with waiters
	Candidates int     `json:"candidates,omitempty"` // for elections, which stand by: they count in no other number here
	Attempting int     `json:"attempting"`           // further calls, which have just started
	Longest    float64 `json:"longest_wait_seconds"` // among the waiting calls
	Recent     Recent  `json:"recent"`
}

// Recent covers the last minute of Acquire calls, without candidates. Calls that have not ended count with the time that they have waited
// so far, so that hanging calls show.
type Recent struct {
	Ended  int     `json:"ended"`
	Failed int     `json:"failed"` // among those that ended
	P50    float64 `json:"p50_seconds"`
	P99    float64 `json:"p99_seconds"`
	// Stalled is for how long calls have waited and none has acquired anything; zero if no call waits.
	Stalled float64 `json:"stalled_seconds,omitempty"`
}

// Objectives are the limits for waits; see live.WithObjectives.
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

// Held is one held lock.
type Held struct {
	Resource string `json:"resource"`
	Backend  string `json:"backend,omitempty"` // name of the set of nodes, if known
	Construct
	Reading           // only if the row stands for all readers
	Holder   string   `json:"holder"`
	Age      float64  `json:"age_seconds"`
	Validity *float64 `json:"validity_seconds"` // remaining; null: never expires, or unknown
	// Unrenewed is since the last renewal, or the grant, if one is overdue; null: renewed in time, as far as is known.
	Unrenewed *float64 `json:"unrenewed_seconds,omitempty"`
	Fence     uint64   `json:"fence,string,omitempty"`
	Extends   int      `json:"extends"`
	Waiters   int      `json:"waiters,omitempty"` // waiting calls on this Board
	CallSite  string   `json:"call_site,omitempty"`
	TraceID   string   `json:"trace_id,omitempty"`
	Page      string   `json:"page,omitempty"`  // of the other process that holds it
	Nodes     int      `json:"nodes,omitempty"` // that have the lock, if they were asked
}

// Waiter is one Acquire that has not ended.
type Waiter struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"`
	Instance string   `json:"instance"` // the waiting process
	For      float64  `json:"for_seconds"`
	Kind     string   `json:"kind"`            // attempt, or a locktrace.Wait
	Class    string   `json:"class,omitempty"` // why it waits: a locktrace.Wait; empty if unknown
	Attempts int      `json:"attempts"`
	Ahead    int      `json:"ahead"` // waiters in front, if known
	Blocker  *Blocker `json:"blocker,omitempty"`
	Holds    []string `json:"holds,omitempty"` // resources that its caller holds while it waits
	Error    string   `json:"error,omitempty"` // of the last attempt, unless it was refused
	CallSite string   `json:"call_site,omitempty"`
	TraceID  string   `json:"trace_id,omitempty"`
	Page     string   `json:"page,omitempty"` // of the other process that waits
}

// Blocker is the holder that a Waiter waits for.
type Blocker struct {
	Holder       string   `json:"holder"` // instance; empty if the lock's value does not name one
	Here         bool     `json:"here"`   // the holder has the waiter's name
	Age          *float64 `json:"age_seconds,omitempty"`
	Remaining    *float64 `json:"remaining_seconds,omitempty"` // at most, unless renewed
	Unrenewed    *float64 `json:"unrenewed_seconds,omitempty"` // at least; null: renewed in time, as far as is known
	Fence        uint64   `json:"fence,string,omitempty"`      // zero: unknown
	NeverExpires bool     `json:"never_expires,omitempty"`
	HandedOver   bool     `json:"handed_over,omitempty"` // nobody holds it; it is reserved for the next waiter
	CallSite     string   `json:"call_site,omitempty"`
	TraceID      string   `json:"trace_id,omitempty"` // of the holder
	Page         string   `json:"page,omitempty"`     // page of the holder's process
	Reason       string   `json:"reason,omitempty"`   // why it holds the lock, if it said so
	Done         bool     `json:"done,omitempty"`     // it has released the lock, which is kept for its minimum hold
}

// Blocked is a resource with waiters.
type Blocked struct {
	Resource string `json:"resource"`
	Backend  string `json:"backend,omitempty"`
	Construct
	Reading
	Waiting  int      `json:"waiting"`            // all waiting calls
	Listed   int      `json:"listed"`             // waiting calls in State.Waiting
	Longest  float64  `json:"longest_seconds"`    // wait
	Failing  int      `json:"failing,omitempty"`  // calls whose last attempt failed without being refused
	Error    string   `json:"error,omitempty"`    // of the failing call that has waited longest
	Votes    string   `json:"votes,omitempty"`    // what the nodes did for that call, in short
	ByClass  ByClass  `json:"by_class,omitempty"` // waiting calls
	Holder   *Blocker `json:"holder,omitempty"`   // null: no known holder
	Chain    []Link   `json:"chain,omitempty"`    // what the holder waits for, and so on; at most MaxChain links
	Deadlock bool     `json:"deadlock,omitempty"` // in a cycle, or waiting behind one
}

// ByClass counts waiting calls by locktrace.Wait.
type ByClass map[string]int

// Link leads from a holder to the resource that it waits for.
type Link struct {
	Resource string   `json:"resource"` // that the previous holder waits for
	Backend  string   `json:"backend,omitempty"`
	For      float64  `json:"for_seconds"`
	CallSite string   `json:"call_site,omitempty"` // of the waiting call
	TraceID  string   `json:"trace_id,omitempty"`  // of the waiting call
	Holder   *Blocker `json:"holder,omitempty"`    // of Resource
}

// Deadlock is a cycle: the holder of each resource waits for the next one, and the holder of the last for the first.
// A locktrace.Trace reported it, or two looks at the Board saw it unchanged.
type Deadlock struct {
	Found float64 `json:"found_seconds"`  // ago
	Over  bool    `json:"over,omitempty"` // the cycle is resolved
	Cycle []Link  `json:"cycle"`
}

// History lists the holders of a contended resource in the last 10 minutes.
type History struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"`
	Holds    []Tenure `json:"holds"` // latest first
	Omitted  int      `json:"omitted,omitempty"`
}

// Tenure is one lease that has ended, or a holder in another process that the nodes named to waiters.
type Tenure struct {
	Holder    string  `json:"holder"`
	Ended     float64 `json:"ended_seconds"` // ago; for a holder in another process, when a waiter last heard of it
	Took      float64 `json:"took_seconds"`
	Elsewhere bool    `json:"elsewhere,omitempty"`
	// Unreleased means that the lease was lost: the nodes kept the lock until its TTL had run out.
	Unreleased bool   `json:"unreleased,omitempty"`
	CallSite   string `json:"call_site,omitempty"`
	TraceID    string `json:"trace_id,omitempty"`
}

// Inflicted is how long calls on this Board waited behind one holder, together, including calls that still wait. A
// holder is one place in the code of one process, or the whole process if it reports no call sites.
type Inflicted struct {
	Resource string  `json:"resource"`
	Backend  string  `json:"backend,omitempty"`
	Holder   string  `json:"holder"` // HolderName, or HandedOver
	CallSite string  `json:"call_site,omitempty"`
	Seconds  float64 `json:"seconds"`
	Waits    int     `json:"waits"` // how often a call began to wait behind it; 0 for HandedOver
}

// WaitPoint is one second of finished Acquire calls.
type WaitPoint struct {
	At     time.Time `json:"at"`
	Count  int       `json:"count"`
	Failed int       `json:"failed"`
	P50    float64   `json:"p50_seconds"`
	P99    float64   `json:"p99_seconds"`
}

// Stall is a time in which calls waited and none acquired anything.
type Stall struct {
	At   time.Time `json:"at"` // start
	Took float64   `json:"took_seconds"`
}

// Acquisition is one finished Acquire call with its steps.
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

// Step is a part of an Acquisition. The Outcome of a wait is woken, handed_over, timeout, or the lock.Reason that ended
// the call.
type Step struct {
	Kind    string  `json:"kind"` // attempt, node or wait
	Name    string  `json:"name"` // "attempt 1", the node's name, or the kind of wait
	Attempt int     `json:"attempt"`
	Start   float64 `json:"start_seconds"`
	Took    float64 `json:"took_seconds"`
	Outcome string  `json:"outcome"`          // granted, refused, failed; or how a wait ended
	Detail  string  `json:"detail,omitempty"` // error, or the holder waited for
}

// Seconds returns a duration as an optional field.
func Seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
