package scanner

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// UsePath makes the scanner read pages in one way only.
func UsePath(p report.Path) Option {
	return func(c *config) {
		c.scope.Capability = keyreader.PlainOnly()
		if p == report.PathScript {
			c.scope.Capability = keyreader.ScriptOnly()
		}
	}
}

// WithNow replaces the clock.
func WithNow(now func() time.Time) Option { return func(c *config) { c.now = now } }

// Identity is the part of a value that a Finding keeps.
func Identity(f report.Finding) string { return registry.EntryOf(&f).Identity }
