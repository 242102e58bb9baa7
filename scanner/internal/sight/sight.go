// Package sight is what the scanner knows of a finding beyond what it shows. A finding carries it sealed: only the
// scanner can open it, so a repair compares with what was seen, not with what a caller claims.
package sight

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/digest"
)

// Sight is sealed [Facts]. It has no methods, because callers could call them.
type Sight struct{ facts Facts }

// Seal keeps facts from callers.
func Seal(f Facts) Sight { return Sight{f} }

// Open returns the sealed facts: none for a finding that the scanner did not make.
func Open(s Sight) Facts { return s.facts }

// Facts are what was seen of a finding's lock.
type Facts struct {
	Source   string    // whose node it is on; a key of a cluster may move to another node
	Since    time.Time // held too long: since when at least
	Identity string    // of the value, for the second look and for repairs; never shown
	Distinct bool      // the identity tells this holder from another one; see Doubt
	Doubt    string    // why it does not
	Kept     bool      // its holder may have the same value again for its next lease
	Until    int64     // of such a value in a plan: until when nobody wrote the key, by the server's lru_clock
	Recalled Recalled  // in place of Identity, until it is seen again
}

// Recalled replaces the identity of the value in a finding of an earlier process.
type Recalled struct {
	Digest digest.Digest
	Value  string
}

// Same reports whether a value is that of the finding.
func (f *Facts) Same(identity string) bool {
	if f.Identity == "" {
		return f.Recalled.Value != "" && f.Recalled.Digest.Text(identity) == f.Recalled.Value
	}
	return f.Identity == identity
}
