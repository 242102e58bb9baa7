package sessions

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// tally adds up the waiting of a span by blocker and by resource.
type tally struct {
	h         *History
	s         span
	c         *counted
	blockers  map[pair]*row
	resources map[pair]*row
}

// pair has the numbers of two names: holder and call site, or set of nodes and resource.
type pair struct{ a, b uint32 }

// row is the waiting for one blocker or resource.
type row struct {
	of          pair
	waited      int
	first, last uint32
	buckets     []int // nil: not listed
	classes     [len(classes)]int
	parts       [3]map[pair]int // see the kinds of parts
	is          state.Construct // of a resource
}

// Kinds of parts of a row.
const (
	partOther  = iota // of a blocker its resources, of a resource its blockers
	partWaiter        // instance and call site
	partNext          // what a blocker waits for itself
)

// newTally requires that the History's mu is held, until the tally is used no more.
func newTally(h *History, s span, c *counted) *tally {
	t := &tally{h: h, s: s, c: c, blockers: make(map[pair]*row), resources: make(map[pair]*row)}
	for id, waited := range c.waited {
		if waited == 0 {
			continue
		}
		p := h.states.all[id]
		of, by := pair{p.backend, p.resource}, pair{p.holder, p.holderSite}
		r := rowOf(t.resources, of, c.first[id])
		t.add(r, id, p)
		if p.kind != 0 {
			r.is = state.Construct{Kind: string(kinds[p.kind]), Slots: int(p.slots)}
		}
		if !blocked(p) {
			continue
		}
		r.part(partOther, by, waited)
		b := rowOf(t.blockers, by, c.first[id])
		t.add(b, id, p)
		b.part(partOther, of, waited)
		b.part(partWaiter, pair{p.instance, p.callSite}, waited)
		if p.next != 0 {
			next := h.states.all[p.next]
			b.part(partNext, pair{next.backend, next.resource}, waited)
		}
	}
	return t
}

// blocked reports whether there is a holder in the way, named or not.
func blocked(p packed) bool {
	return p.holder != 0 || p.holderSite != 0 || classes[p.class] == locktrace.WaitHolder
}

func rowOf(rows map[pair]*row, of pair, first uint32) *row {
	r := rows[of]
	if r == nil {
		r = &row{of: of, first: first}
		rows[of] = r
	}
	return r
}

func (t *tally) add(r *row, id int, p packed) {
	r.waited += t.c.waited[id]
	r.classes[p.class] += t.c.waited[id]
	r.first, r.last = min(r.first, t.c.first[id]), max(r.last, t.c.last[id])
}

func (r *row) part(kind int, of pair, waited int) {
	if r.parts[kind] == nil {
		r.parts[kind] = make(map[pair]int)
	}
	r.parts[kind][of] += waited
}

// top returns the rows most waited for, which get buckets.
func (t *tally) top(rows map[pair]*row, buckets int) (listed []*row, omitted int) {
	for _, r := range rows {
		listed = append(listed, r)
	}
	slices.SortFunc(listed, func(x, y *row) int {
		return cmp.Or(cmp.Compare(y.waited, x.waited), t.compare(x.of, y.of))
	})
	omitted = max(0, len(listed)-state.MaxPast)
	listed = listed[:len(listed)-omitted]
	for _, r := range listed {
		r.buckets = make([]int, buckets)
	}
	return listed, omitted
}

func (t *tally) compare(x, y pair) int {
	name := t.h.states.names.all
	return cmp.Or(cmp.Compare(name[x.a], name[y.a]), cmp.Compare(name[x.b], name[y.b]))
}

// fill adds the runs to the buckets of the listed rows.
func (t *tally) fill() {
	t.h.each(func(r run) {
		first, last, ok := t.s.clip(r)
		if !ok {
			return
		}
		p := t.h.states.all[r.state]
		rows := [...]*row{t.resources[pair{p.backend, p.resource}], t.blockers[pair{p.holder, p.holderSite}]}
		for i, row := range rows {
			if row != nil && row.buckets != nil && (i == 0 || blocked(p)) {
				t.s.add(row.buckets, first, last, int(r.calls))
			}
		}
	})
}

// named lists the largest parts of a row.
func (t *tally) named(parts map[pair]int, name func(pair) state.WaitedPart) []state.WaitedPart {
	all := make([]pair, 0, len(parts))
	for of := range parts {
		all = append(all, of)
	}
	slices.SortFunc(all, func(x, y pair) int { return cmp.Or(cmp.Compare(parts[y], parts[x]), t.compare(x, y)) })
	named := make([]state.WaitedPart, 0, min(len(all), state.MaxParts))
	for _, of := range all[:min(len(all), state.MaxParts)] {
		part := name(of)
		part.Waited = parts[of]
		named = append(named, part)
	}
	return named
}

func (t *tally) resource(of pair) state.WaitedPart {
	name := t.h.states.names.all
	return state.WaitedPart{Backend: name[of.a], Resource: name[of.b]}
}

func (t *tally) place(of pair) state.WaitedPart {
	name := t.h.states.names.all
	return state.WaitedPart{Instance: name[of.a], CallSite: name[of.b]}
}

// list lists the blockers and resources most waited for.
func (t *tally) list(d *state.WaitHistory) {
	blockers, omittedBlockers := t.top(t.blockers, d.Buckets)
	resources, omittedResources := t.top(t.resources, d.Buckets)
	t.fill()
	d.Omitted = state.OmittedFromPast{Blockers: omittedBlockers, Resources: omittedResources}
	d.Blockers = make([]state.PastBlocker, len(blockers))
	for i, r := range blockers {
		d.Blockers[i] = t.blocker(r)
	}
	d.Resources = make([]state.PastResource, len(resources))
	for i, r := range resources {
		d.Resources[i] = t.pastResource(r)
	}
}

func (t *tally) blocker(r *row) state.PastBlocker {
	of := t.place(r.of)
	return state.PastBlocker{
		Holder: of.Instance, CallSite: of.CallSite, Waited: r.waited, First: t.s.time(r.first), Last: t.s.time(r.last),
		Resources: t.named(r.parts[partOther], t.resource), Of: len(r.parts[partOther]),
		Waiters:  t.named(r.parts[partWaiter], t.place),
		WaitsFor: t.named(r.parts[partNext], t.resource), Buckets: r.buckets,
	}
}

func (t *tally) pastResource(r *row) state.PastResource {
	of := t.resource(r.of)
	past := state.PastResource{
		Resource: of.Resource, Backend: of.Backend, Kind: r.is.Kind, Slots: r.is.Slots, Waited: r.waited,
		First: t.s.time(r.first), Last: t.s.time(r.last), Classes: make(map[string]int),
		Blockers: t.named(r.parts[partOther], t.place), Buckets: r.buckets,
	}
	for class, waited := range r.classes {
		if waited > 0 {
			past.Classes[className(uint32(class))] = waited
		}
	}
	return past
}
