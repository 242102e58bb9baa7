package scanner

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/sight"
)

// UsePath reads pages in one way only.
func UsePath(p Path) Option {
	return func(c *config) {
		c.capability = keyreader.PlainOnly()
		if p == PathScript {
			c.capability = keyreader.ScriptOnly()
		}
	}
}

// WithNow replaces the clock.
func WithNow(now func() time.Time) Option { return func(c *config) { c.now = now } }

// Identity is what a Finding keeps of a value.
func Identity(f Finding) string { return sight.Open(f.Seen).Identity }

// StringHold is what a value of that text tells.
func StringHold(text string) Hold {
	return holdOf(&keyreader.Value{Type: keyreader.String, Head: text[:min(len(text), keyreader.HeadSize)], Size: int64(len(text))})
}
