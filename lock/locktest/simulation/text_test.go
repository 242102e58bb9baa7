package simulation

import (
	"fmt"
	"strings"
)

func (o *op) String() string {
	s := fmt.Sprintf("r%d%s hold %v", o.resource, o.text, o.hold)
	if o.cancel > 0 {
		s += fmt.Sprintf(" cancel after %v", o.cancel)
	}
	if len(o.more) > 0 {
		s += fmt.Sprintf(" and r%v", o.more)
	}
	if o.stall > 0 {
		s += fmt.Sprintf(" stall %v", o.stall)
	}
	if o.extend > 0 {
		s += fmt.Sprintf(" extend every %v", o.extend)
	}
	for flag, set := range map[string]bool{" deaf": o.deaf, " released twice": o.twice,
		" release cancelled": o.cancelled, " with Run": o.run} {
		if set {
			s += flag
		}
	}
	return s
}

// String describes the plan for a reader of a trace.
func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d nodes with clock rates %.4f, fresh %v, %d clients, %d resources, calm %v, wipes %v\n",
		p.seed, len(p.rates), p.rates, p.fresh, len(p.clients), p.resources, p.calm, p.wipes)
	for i, c := range p.clients {
		fmt.Fprintf(&b, "  c%d: clock rate %.4f\n", i, c.rate)
	}
	for i, t := range p.nodes {
		if len(t) > 0 {
			fmt.Fprintf(&b, "  n%d: %v\n", i, t)
		}
	}
	return b.String()
}

func (r *leaseRecord) String() string {
	return fmt.Sprintf("%s of %s, fence %d: called %v, held from %v to %v (%v)",
		r.id, r.name, r.fence, r.started, r.returned, r.ended, r.cause)
}
