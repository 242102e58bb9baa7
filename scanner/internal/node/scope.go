package node

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Scope says which keys are read, and how gently.
type Scope struct {
	Patterns   []string // that locks are looked for by, at least one
	PageSize   int
	Pause      time.Duration        // after each page; the longest one if Adaptive
	Adaptive   bool                 // a sweep goes as fast as other clients of the server allow
	Capability keyreader.Capability // what is known of every node beforehand: for tests
}
