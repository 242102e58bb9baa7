package state

import "time"

// Bounds of a WaitHistory.
const (
	// WaitHistoryFor is how long samples of waiting calls are kept.
	WaitHistoryFor = time.Hour
	// MaxBuckets is how many parts the span of a WaitHistory is divided into at most.
	MaxBuckets = 60
	// MaxPast is how many blockers and how many resources a WaitHistory lists at most.
	MaxPast = 50
	// MaxParts is how many parts of a blocker or resource are listed at most.
	MaxParts = 5
)

// WaitHistory says who waited for whom in a span of time. Once a second, all calls that wait are counted with their
// class and holder, but not candidates for an election, which stand by. Each call in a sample is one second of waiting.
// Shorter waits are hit or missed in proportion to their length.
type WaitHistory struct {
	At           time.Time       `json:"at"`
	Instance     string          `json:"instance"` // the reporting process
	From         time.Time       `json:"from"`
	To           time.Time       `json:"to"`
	CompleteFrom time.Time       `json:"complete_from"` // samples before it are missing, or some of them
	Waited       int             `json:"waited_seconds"`
	Bucket       int             `json:"bucket_seconds"` // length of a part of the span; the last one may be shorter
	Buckets      int             `json:"buckets"`        // how many parts
	Classes      []WaitedClass   `json:"classes"`        // those that occurred, in a fixed order
	Blockers     []PastBlocker   `json:"blockers"`       // most waited for first
	Resources    []PastResource  `json:"resources"`      // most waited for first
	Omitted      OmittedFromPast `json:"omitted"`
}

// WaitedClass is the waiting of one class.
type WaitedClass struct {
	Class   string `json:"class"` // a locktrace.Wait; "unknown" for Lockers that do not report it
	Waited  int    `json:"waited_seconds"`
	Buckets []int  `json:"waited_seconds_by_bucket"`
}

// PastBlocker is a holder that calls waited for: an instance and a place in its code.
type PastBlocker struct {
	Holder    string       `json:"holder"` // HolderName, or HandedOver; empty: not known
	CallSite  string       `json:"call_site,omitempty"`
	Waited    int          `json:"waited_seconds"`
	First     time.Time    `json:"first"`     // sample
	Last      time.Time    `json:"last"`      // sample
	Resources []WaitedPart `json:"resources"` // that it held; at most MaxParts
	Of        int          `json:"resources_total"`
	Waiters   []WaitedPart `json:"waiters"`             // that waited for it; at most MaxParts
	WaitsFor  []WaitedPart `json:"waits_for,omitempty"` // meanwhile itself; at most MaxParts
	Buckets   []int        `json:"waited_seconds_by_bucket"`
}

// PastResource is a resource that calls waited for.
type PastResource struct {
	Resource string         `json:"resource"`
	Backend  string         `json:"backend,omitempty"`
	Kind     string         `json:"kind,omitempty"`  // what it is part of; see Construct
	Slots    int            `json:"slots,omitempty"` // of the semaphore
	Waited   int            `json:"waited_seconds"`
	First    time.Time      `json:"first"` // sample
	Last     time.Time      `json:"last"`  // sample
	Classes  map[string]int `json:"waited_seconds_by_class"`
	Blockers []WaitedPart   `json:"blockers"` // its holders; at most MaxParts
	Buckets  []int          `json:"waited_seconds_by_bucket"`
}

// WaitedPart is a part of the waiting for a blocker or a resource. Only the fields that name it are set.
type WaitedPart struct {
	Resource string `json:"resource,omitempty"`
	Backend  string `json:"backend,omitempty"`
	Instance string `json:"instance,omitempty"`
	CallSite string `json:"call_site,omitempty"`
	Waited   int    `json:"waited_seconds"`
}

// OmittedFromPast counts what the limits of a WaitHistory left out.
type OmittedFromPast struct {
	Blockers  int `json:"blockers"`
	Resources int `json:"resources"`
}

// WaitChain is a waiting call, the holder that it waited for, what that holder waited for, and so on.
type WaitChain struct {
	Class  string
	Waited int        // seconds, which is also the number of samples
	Links  []PastLink // at least one
}

// PastLink is a call that waits, and the holder of what it waits for. The next link, if there is one, is the wait of
// that holder.
type PastLink struct {
	Resource, Backend  string
	Instance, CallSite string // of the waiting call; unknown ones are empty
	Holder, HolderSite string // instance and call site of the holder
}
