package deadlock

import "slices"

// wanted are the resources that the call waits for: the first free one ends its wait.
func (e edge) wanted() []*Resource {
	if e.call.counts != nil && !e.call.counts() {
		return nil
	}
	if e.call.either == nil {
		return []*Resource{e.on}
	}
	return e.call.either()
}

// findCycle follows the edges from what the call waits for until it comes to a lease that the call's caller holds. A
// writer waits for each of several readers, and one of them is enough for a cycle. A call that waits for one of several
// resources is part of a cycle only if the holders of all of them are stuck.
func (c *Call) findCycle() []edge {
	cycle := c.path(nil)
	several := func(e edge) bool { return e.call.either != nil }
	if !slices.ContainsFunc(cycle, several) {
		return cycle
	}
	s := c.survey()
	s.strike()
	return c.path(s)
}

// path is a cycle that the call closes; with a survey, one of waits that do not end. If any of the cycles has a call that
// asked to fail, it is one of these: nobody breaks the others, and the calls of a second cycle do not look.
func (c *Call) path(within survey) []edge {
	cycle := c.search(within, false)
	if cycle == nil || slices.ContainsFunc(cycle, func(e edge) bool { return e.call.notified != nil }) {
		return cycle
	}
	if breaks := c.search(within, true); breaks != nil {
		return breaks
	}
	return cycle
}

// visit is a lease on the way of a search, and whether a call before it asked to fail.
type visit struct {
	*Lease
	fails bool
}

// search follows the first cycle; with breaks, the first one with a call that asked to fail.
func (c *Call) search(within survey, breaks bool) []edge {
	seen := make(map[visit]bool)
	var follow func(e edge, fails bool) []edge
	follow = func(e edge, fails bool) []edge {
		fails = breaks && (fails || e.call.notified != nil)
		if within != nil && within[e.call] == nil {
			return nil
		}
		for _, on := range e.wanted() {
			for _, holder := range on.holders() {
				mine := slices.Contains(c.leases, holder)
				switch here := (visit{holder, fails}); {
				case mine && fails == breaks:
					return []edge{{holder, c, c.on}}
				case mine || seen[here]:
					continue
				default:
					seen[here] = true
				}
				for _, next := range holder.all() {
					if rest := follow(next, fails); rest != nil {
						return append(rest, next)
					}
				}
			}
		}
		return nil
	}
	cycle := follow(edge{call: c, on: c.on}, false)
	slices.Reverse(cycle[min(1, len(cycle)):])
	return cycle
}

// survey has the waits that a wait depends on. For each resource that ends a wait, it has the calls that wait in the
// contexts of its holders: none if the resource is free, or its holders unknown.
type survey map[*Call][][]*Call

func (c *Call) survey() survey {
	s := make(survey)
	var visit func(e edge)
	visit = func(e edge) {
		if s[e.call] != nil {
			return
		}
		s[e.call] = [][]*Call{}
		for _, on := range e.wanted() {
			var behind []*Call
			for _, holder := range on.holders() {
				for _, next := range holder.all() {
					behind = append(behind, next.call)
					visit(next)
				}
			}
			s[e.call] = append(s[e.call], behind)
		}
	}
	visit(edge{call: c, on: c.on})
	return s
}

// strike takes out the waits that end: those for a resource whose holders wait for nothing, or only in waits that end.
func (s survey) strike() {
	stuck := func(c *Call) bool { return s[c] != nil }
	for again := true; again; {
		again = false
		for c, wanted := range s {
			if slices.ContainsFunc(wanted, func(behind []*Call) bool { return !slices.ContainsFunc(behind, stuck) }) {
				delete(s, c)
				again = true
			}
		}
	}
}
