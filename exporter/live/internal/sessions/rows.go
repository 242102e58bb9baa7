package sessions

import "github.com/lockscope/lockscope/exporter/live/state"

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
