package scanner

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
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

// Identity is what Finding keeps of a value.
func (f Finding) Identity() string { return f.identity }

// StringHold is what a value of that text tells.
func StringHold(text string) Hold {
	return holdOf(&keyreader.Value{Type: keyreader.String, Head: text[:min(len(text), keyreader.HeadSize)], Size: int64(len(text))})
}
