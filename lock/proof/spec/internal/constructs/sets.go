package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"

// Sets is the model of callers that hold several locks at once, each lock a mutex in one piece:
// that one lock has one holder is the matter of locks.Votes. A caller acquires its locks one after
// the other and waits for one at a time.
type Sets struct {
	Wanted string // the locks of each caller, in the order in which it names them: "01 10"
	Held   string // a lock that a caller has before it acquires its set, "-" for none: "- 1"
	Losses int    // locks that are lost: a lease ends, and the lock is free

	Rules  SetsRules
	parsed [setsCallers][]uint8
}

// SetsRules switch off what a set goes by. The zero value has all rules on.
type SetsRules struct {
	Unsorted      bool // locks are acquired in the order in which they are named
	LossOfOne     bool // the set goes on without a lock that was lost
	KeptOnFailure bool // a set that fails keeps what it has acquired
}

const (
	setsCallers = 3
	setsLocks   = 3
)

type setsCaller struct {
	phase  attempt.Phase
	next   uint8 // of its locks: the one that it acquires, or waits for
	failed bool
}

type setsState struct {
	owner   [setsLocks]uint8 // 1 + caller
	callers [setsCallers]setsCaller
	lost    uint8
}
