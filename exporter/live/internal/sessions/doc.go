// Package sessions is the active session history of a Board: once a second it counts every waiting call by its state,
// and keeps the counts for an hour.
//
// A [Wait] is the state of a waiting call: resource and set of nodes, instance and call site of the waiter, instance
// and call site of the holder that it waits for, class, and what that holder waits for itself. Calls in the same state
// are counted together, and a count that stays the same for many samples is one run.
//
// # Memory
//
// A run takes 12 bytes, whatever its length. A state that a run refers to takes about 150 bytes, and a name in a state
// 90 bytes and its text, each once. All of them are bounded, to less than [MaxBytes] together. When a bound is reached,
// the oldest runs are forgotten first, and the history says from when it is complete. Nothing is allocated until
// somebody waits.
//
// An hour with 1,000 waiting calls takes (see TestMemory):
//
//	the same calls all the time, for 8 resources from 20 call sites     30 KB
//	calls of 2 seconds, for 8 resources from 20 call sites              5.7 MB
//	calls of 2 seconds, for 1,000 resources                             12.6 MB, complete for the last 45 minutes
//	calls of 2 seconds, each for a resource that nobody waited for yet  7.2 MB, complete for the last minute
//
// # Cost
//
// An Acquire reads one atomic value. [Sampler] has a timer only while calls are under way, and no goroutine.
package sessions

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// Bounds of a History.
const (
	// Kept is how long samples are kept: a little longer than promised, so that an hour before now is complete.
	Kept = state.WaitHistoryFor + time.Minute
	// MaxBytes bounds the memory of a History.
	MaxBytes = 24 << 20

	maxRuns      = 1 << 20 // 12 MiB
	maxStates    = 1 << 15 // 4.8 MiB
	maxNames     = 1 << 15 // 3 MiB, without their texts
	maxNameBytes = 2 << 20

	// maxGap is how many seconds without a sample a run survives, when the timer fires late on a busy machine.
	maxGap = 10
	// maxDepth bounds the chain of holders that wait themselves.
	maxDepth = 16
)
