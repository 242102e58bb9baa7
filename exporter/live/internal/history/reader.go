package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/state"
)

const (
	tenuresShown   = 500 // of all resources in a State
	historiesShown = 100
)

// Reader gathers the contents of books.
type Reader struct {
	now     time.Time
	ranks   map[names.ID]int
	holders map[names.ID]*state.Blocker
	all     []remembered
}

type remembered struct {
	rank   int
	waited time.Time
	state.History
}

// NewReader lists the resources of rows first, which have these holders.
func NewReader(now time.Time, rows []names.ID, holder func(names.ID) *state.Blocker) *Reader {
	r := &Reader{
		now: now, ranks: make(map[names.ID]int, len(rows)), holders: make(map[names.ID]*state.Blocker, len(rows)),
	}
	for i, of := range rows {
		r.ranks[of], r.holders[of] = i+1, holder(of)
	}
	return r
}

// Read adds the contents of a book, and makes it forget what is too old.
func (r *Reader) Read(b *Book) {
	for of, h := range b.contended {
		if r.now.Sub(h.waited) >= state.HistoryFor && r.ranks[of] == 0 {
			delete(b.contended, of)
			continue
		}
		if told := h.tell(of, r.holders[of], r.now); len(told.Holds) > 0 {
			r.all = append(r.all, remembered{cmp.Or(r.ranks[of], len(r.ranks)+1), h.waited, told})
		}
	}
}

// Histories returns what was read: the rows first, then the resources waited for last.
func (r *Reader) Histories() []state.History {
	slices.SortFunc(r.all, func(x, y remembered) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), y.waited.Compare(x.waited),
			cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Backend, y.Backend))
	})
	told, room := make([]state.History, 0, min(len(r.all), historiesShown)), tenuresShown
	for _, h := range r.all[:min(len(r.all), historiesShown)] {
		if n := min(len(h.Holds), room); n < len(h.Holds) {
			h.Holds, h.Omitted = h.Holds[:n], len(h.Holds)-n
		}
		room -= len(h.Holds)
		told = append(told, h.History)
	}
	return told
}
