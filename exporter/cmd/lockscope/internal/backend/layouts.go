package backend

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockscope/lockscope/scanner/discover"
	"github.com/lockscope/lockscope/scanner/report"
)

// Layouts is which libraries keep locks in a system.
type Layouts struct {
	Found []discover.Found // surest first; their TTLs are not read, but NoTTL is
	Read  report.Counted   // what was looked at
	Whole bool             // that is everything
	Notes []string         // what this user could not read, with the remedy
}

// Recognised groups locks by library and pattern. The zero value is empty.
type Recognised struct {
	groups map[recognised]*discover.Found
}

type recognised struct {
	library discover.Library
	pattern string
}

// Add adds keys of one library under one pattern. The example is the first one by its bytes.
func (r *Recognised) Add(f discover.Found) {
	if r.groups == nil {
		r.groups = make(map[recognised]*discover.Found)
	}
	id := recognised{f.Library, f.Pattern}
	all := r.groups[id]
	if all == nil {
		r.groups[id] = &f
		return
	}
	all.Keys += f.Keys
	all.NoTTL += f.NoTTL
	all.Example = min(all.Example, f.Example)
}

// Found returns the groups, surest first.
func (r *Recognised) Found() (all []discover.Found) {
	for f := range maps.Values(r.groups) {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b discover.Found) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Keys, a.Keys),
			cmp.Compare(a.Library, b.Library), cmp.Compare(a.Pattern, b.Pattern))
	})
	return all
}
