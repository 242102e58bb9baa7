package scanner

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/sight"
)

// UsePath reads pages in one way only.
func UsePath(p Path) Option {
	return func(c *config) {
		c.scope.Capability = keyreader.PlainOnly()
		if p == PathScript {
			c.scope.Capability = keyreader.ScriptOnly()
		}
	}
}

// WithNow replaces the clock.
func WithNow(now func() time.Time) Option { return func(c *config) { c.now = now } }

// Identity is what a Finding keeps of a value.
func Identity(f Finding) string { return sight.Open(f.Seen).Identity }
