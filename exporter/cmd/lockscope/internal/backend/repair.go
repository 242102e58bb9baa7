package backend

import (
	"fmt"

	"github.com/lockscope/lockscope/scanner/repair"
)

// The actions of a repair.
const (
	Delete    = "delete"
	Terminate = "terminate" // end a session of PostgreSQL that is idle in a transaction
)

// Unsafe is the error of a finding that only a person can judge.
func Unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{repair.ErrNotRepairable}, args...)...)
}
