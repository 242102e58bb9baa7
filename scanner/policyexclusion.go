package scanner

import (
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// WithExclusions keeps findings of keys that match out of reports. Nothing vanishes: what
// each exclusion kept out is counted in [Report].Excluded, and one that has ended is named
// there, and in the log, until it is taken away. Of several that match the first one that
// has not ended counts. A pattern, an end and a reason are needed. Given more than once,
// they add up.
func WithExclusions(exclusions ...Exclusion) Option {
	return func(c *config) { c.exclusions = append(c.exclusions, exclusions...) }
}

// excludes returns which exclusion keeps a key out now, or -1.
func (c *config) excludes(key string) int {
	if len(c.exclusions) == 0 {
		return -1
	}
	now := c.now()
	for i, e := range c.exclusions {
		if now.Before(e.Until) && keyreader.Matches(e.Pattern, key) {
			return i
		}
	}
	return -1
}

// excluded adds up what the nodes counted.
func (c *config) excluded(nodes []*nodeSweep) []Excluded {
	var all []Excluded
	for i, e := range c.exclusions {
		one := Excluded{Exclusion: e, Ended: !c.now().Before(e.Until)}
		for _, n := range nodes {
			one.Findings += n.excluded[i]
		}
		all = append(all, one)
	}
	return all
}
