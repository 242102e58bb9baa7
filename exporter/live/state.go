package live

import "time"

// State is what a process knows about its locks at one instant. Durations are in
// seconds, offsets count from the start of what holds them.
type State struct {
	At       time.Time     `json:"at"`
	Instance string        `json:"instance"` // who reports
	Held     []Held        `json:"held"`     // oldest first
	Waiting  []Waiter      `json:"waiting"`  // longest first
	Waits    []WaitPoint   `json:"waits"`    // oldest first, one a second; seconds without a wait are left out
	Nodes    []Node        `json:"nodes"`    // in the order they were first seen
	Slowest  []Acquisition `json:"slowest"`  // slowest first, of the last minutes
	Omitted  Omitted       `json:"omitted"`
}

// Omitted counts what the limits of a State left out.
type Omitted struct {
	Held    int `json:"held"`
	Waiting int `json:"waiting"`
}

// Held is one lock that is held.
type Held struct {
	Resource string   `json:"resource"`
	Holder   string   `json:"holder"`
	Age      float64  `json:"age_seconds"`
	Validity *float64 `json:"validity_seconds"` // left; null: never expires, or unknown
	Fence    uint64   `json:"fence,string,omitempty"`
	Extends  int      `json:"extends"`
	TraceID  string   `json:"trace_id,omitempty"`
	Nodes    int      `json:"nodes,omitempty"` // that know the lock, where they were asked
}

// Waiter is one Acquire that has not ended.
type Waiter struct {
	Resource string   `json:"resource"`
	Instance string   `json:"instance"` // who waits
	For      float64  `json:"for_seconds"`
	Kind     string   `json:"kind"` // attempt, or a lock.WaitKind
	Attempts int      `json:"attempts"`
	Ahead    int      `json:"ahead"` // waiters in front, where known
	Blocker  *Blocker `json:"blocker,omitempty"`
	Error    string   `json:"error,omitempty"` // of the last attempt, if it was not refused
	TraceID  string   `json:"trace_id,omitempty"`
}

// Blocker is who a Waiter waits for.
type Blocker struct {
	Holder       string   `json:"holder"` // instance; empty if the lock's value does not tell
	Here         bool     `json:"here"`   // it has the waiter's name
	Age          *float64 `json:"age_seconds,omitempty"`
	Remaining    *float64 `json:"remaining_seconds,omitempty"` // at most, unless renewed
	NeverExpires bool     `json:"never_expires,omitempty"`
	HandedOver   bool     `json:"handed_over,omitempty"` // nobody holds it; it is kept for the next waiter
	TraceID      string   `json:"trace_id,omitempty"`    // of the holder
}

// WaitPoint is one second of finished Acquires.
type WaitPoint struct {
	At     time.Time `json:"at"`
	Count  int       `json:"count"`
	Failed int       `json:"failed"`
	P50    float64   `json:"p50_seconds"`
	P99    float64   `json:"p99_seconds"`
}

// Node is the health of one Redis node as its commands tell, over the last minute.
type Node struct {
	Name     string   `json:"name"`
	Up       bool     `json:"up"` // it answered the last command
	Calls    int      `json:"calls"`
	Failures int      `json:"failures"`
	P50      float64  `json:"p50_seconds"`
	P99      float64  `json:"p99_seconds"`
	Quiet    *float64 `json:"quiet_seconds"` // since its last answer; null: never
	Error    string   `json:"error,omitempty"`
	Restart  *Restart `json:"restart,omitempty"` // while locks that it forgot can be valid
}

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
