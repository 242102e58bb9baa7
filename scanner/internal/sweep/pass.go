package sweep

import (
	"math"

	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// pass is one way through all keys of a node. It takes several sweeps if deadlines cut it off: the next sweep
// continues at the SCAN cursor, which the client keeps.
type pass struct {
	began   *coverage.Standing // what the node said of itself then
	pattern int                // of the config's, the one that is looked for
	cursor  string             // "": a new pass
	locks   int64
	counted int64   // keys that the server examined for pattern, roughly
	matched []int64 // locks by pattern
	from    int64   // values are wanted of the locks from this one on, counted from 1
}

// resume begins or continues the pass. fresh means that it begins.
func (p *pass) resume() (fresh bool) {
	if p.cursor == "" {
		*p = pass{cursor: keyreader.FirstCursor, from: max(p.from, 1)}
	}
	return p.pattern == 0 && p.cursor == keyreader.FirstCursor
}

// wanted selects the locks of the next page whose values are read. A pass reads up to values of them.
func (p *pass) wanted(values int) keyreader.Wanted {
	if values == 0 {
		return keyreader.Wanted{}
	}
	w := keyreader.Wanted{First: max(p.from-p.locks, 1), Last: math.MaxInt32}
	if values >= 0 {
		w.Last = max(p.from+int64(values)-1-p.locks, 0)
	}
	return w
}

// advance records a page that was read, for which the server examined about count keys.
func (p *pass) advance(next string, locks, count int64, patterns int) {
	if p.matched == nil {
		p.matched = make([]int64, patterns)
	}
	p.matched[p.pattern] += locks
	p.locks += locks
	p.counted += count
	p.cursor = next
	if next == keyreader.FirstCursor {
		p.pattern++
		p.counted = 0
	}
}

// share estimates how much of the pass is over on a node with so many keys.
func (p *pass) share(keys int64, patterns int) float64 {
	of := 0.0
	if keys > 0 {
		of = min(1, float64(p.counted)/float64(keys))
	}
	return (float64(p.pattern) + of) / float64(patterns)
}

// ended reports, after a page, whether it was the last one of the last pattern.
func (p *pass) ended(patterns int) bool { return p.pattern == patterns }

// finish passes the turn of having values read to the next locks. It begins again with the first when all have had
// their turn.
func (p *pass) finish(values int) (round bool) {
	next := p.from + int64(values)
	if round = values <= 0 || next > p.locks; round {
		next = 1
	}
	*p = pass{from: next}
	return round
}

// abandon makes the next sweep begin a new pass with the same turn.
func (p *pass) abandon() { *p = pass{from: p.from} }
