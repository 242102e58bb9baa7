package sweep

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/report"
)

// sighted identifies a finding of one system.
type sighted struct {
	class      report.Class
	place, key string
}

func sightedOf(f *report.Finding) sighted { return sighted{f.Class, f.Place, f.Key} }

// sightings has one sighting for each lock: the ledger keeps one finding of a class for it. Of several holders that
// share a lock it is the one that has held it for longest, and the evidence counts the others.
func sightings(all []report.Sighting) map[sighted]report.Sighting {
	oldest, others := make(map[sighted]report.Sighting, len(all)), make(map[sighted]int)
	for _, s := range all {
		id := sightedOf(&s.Finding)
		before, twice := oldest[id]
		if twice {
			others[id]++
		}
		if !twice || s.Hold.Since.Before(before.Hold.Since) {
			oldest[id] = s
		}
	}
	for id, n := range others {
		s := oldest[id]
		s.Evidence += fmt.Sprintf("; holders beside it: %d", n)
		oldest[id] = s
	}
	return oldest
}

func byKey(a, b report.Sighting) int {
	return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Key, b.Key))
}

func (w *Whole) entry(s report.Sighting, now time.Time) ledger.Entry {
	e := ledger.Entry{Finding: s.Finding, Facts: sight.Facts{Source: w.report.Node, Identity: s.Identity}}
	e.Backend, e.Node, e.FirstSeen, e.LastSeen = w.report.Backend, w.report.Node, now, now
	e.Confirmed = false // the ledger decides
	return e
}
