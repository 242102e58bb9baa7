package scanner

import "time"

// UsePath reads pages in one way only.
func UsePath(p Path) Option { return func(c *config) { c.path = p } }

// WithNow replaces the clock.
func WithNow(now func() time.Time) Option { return func(c *config) { c.now = now } }

// Identity is what Finding keeps of a value.
func (f Finding) Identity() string { return f.identity }

// EscapeGlob is escapeGlob.
func EscapeGlob(s string) string { return escapeGlob(s) }

// StringHolder is what a value of that text says about its holder.
func StringHolder(text string) Holder {
	v := value{kind: kindString, head: text[:min(len(text), headSize)], size: int64(len(text))}
	return v.holder()
}
