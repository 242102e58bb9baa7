package livetest

import (
	"context"
	"math"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// Past is a process in which nobody waits now, and many did a while ago: billing made orders wait for four minutes,
// while it waited for stock, and then two of three nodes did not answer for a minute.
type Past struct {
	Hostile bool // names are long and have characters that are no letters
	Missing time.Duration
}

// State is that of an idle process.
func (Past) State(context.Context) state.State { return Idle() }

// row is the waiting of one class for one resource.
type row struct {
	resource, holder, site, class string
	at, width, height             float64 // shares of the span, and calls at a time
}

var rows = []row{
	{"order:1001", "billing-84cc/1", "billing/invoice.go:118", "holder", .45, .13, 12},
	{"order:1002", "billing-84cc/1", "billing/invoice.go:118", "holder", .48, .1, 4},
	{"stock:eu-central-1:991", "stock-5b7d/1", "stock/recount.go:57", "holder", .47, .12, 1},
	{"cart:5541", "orders-7d9f5c/1", "cart/merge.go:31", "holder", .2, .04, 2},
	{"order:1001", "", "", "no_quorum", .83, .05, 9},
	{"cart:5541", "", "", "network", .78, .015, 2},
}

// WaitHistory divides any span in the same way.
func (p Past) WaitHistory(from, to time.Time) state.WaitHistory {
	const buckets = 60
	seconds := int(to.Sub(from).Seconds()+buckets-1) / buckets
	d := state.WaitHistory{
		At: to, Instance: p.name("orders-7d9f5c/1"), From: from, To: to, CompleteFrom: from.Add(p.Missing),
		Bucket: seconds, Buckets: buckets,
	}
	for _, r := range rows {
		all := r.buckets(buckets, seconds)
		waited, first, last := extent(all, from, seconds)
		d.Waited += waited
		p.addClass(&d, r.class, waited, all)
		p.addResource(&d, r, waited, all, first, last)
		if r.holder != "" {
			p.addBlocker(&d, r, waited, all, first, last)
		}
	}
	return d
}

// buckets are a hill of waiting calls.
func (r row) buckets(n, seconds int) (all []int) {
	for i := range n {
		x := (float64(i)/float64(n) - r.at) / r.width
		calls := r.height * math.Exp(-x*x) * (1 + .18*math.Sin(float64(i)*1.7))
		if calls < .15 {
			calls = 0
		}
		all = append(all, int(calls*float64(seconds)+.5))
	}
	return all
}

func extent(all []int, from time.Time, seconds int) (waited int, first, last time.Time) {
	for i, n := range all {
		if waited += n; n == 0 {
			continue
		}
		if last = from.Add(time.Duration((i+1)*seconds-1) * time.Second); first.IsZero() {
			first = from.Add(time.Duration(i*seconds) * time.Second)
		}
	}
	return waited, first, last
}

func (p Past) addClass(d *state.WaitHistory, class string, waited int, all []int) {
	for i := range d.Classes {
		if c := &d.Classes[i]; c.Class == class {
			c.Waited += waited
			add(c.Buckets, all)
			return
		}
	}
	d.Classes = append(d.Classes, state.WaitedClass{Class: class, Waited: waited, Buckets: add(make([]int, len(all)), all)})
}

func (p Past) addResource(d *state.WaitHistory, r row, waited int, all []int, first, last time.Time) {
	for i := range d.Resources {
		if known := &d.Resources[i]; known.Resource == p.name(r.resource) {
			known.Waited += waited
			known.Classes[r.class] += waited
			known.Last = last
			add(known.Buckets, all)
			return
		}
	}
	past := state.PastResource{
		Resource: p.name(r.resource), Backend: "redis", Waited: waited, First: first, Last: last,
		Classes: map[string]int{r.class: waited}, Blockers: []state.WaitedPart{}, Buckets: add(make([]int, len(all)), all),
	}
	if r.holder != "" {
		past.Blockers = []state.WaitedPart{{Instance: p.name(r.holder), CallSite: p.name(r.site), Waited: waited}}
	}
	d.Resources = append(d.Resources, past)
}

func (p Past) addBlocker(d *state.WaitHistory, r row, waited int, all []int, first, last time.Time) {
	part := state.WaitedPart{Resource: p.name(r.resource), Backend: "redis", Waited: waited}
	for i := range d.Blockers {
		if b := &d.Blockers[i]; b.Holder == p.name(r.holder) {
			b.Waited, b.Of, b.Resources = b.Waited+waited, b.Of+1, append(b.Resources, part)
			b.Waiters[0].Waited, b.WaitsFor[0].Waited = b.Waited, b.Waited
			add(b.Buckets, all)
			return
		}
	}
	b := state.PastBlocker{
		Holder: p.name(r.holder), CallSite: p.name(r.site), Waited: waited, First: first, Last: last,
		Resources: []state.WaitedPart{part}, Of: 1, Buckets: add(make([]int, len(all)), all),
		Waiters: []state.WaitedPart{{Instance: p.name("orders-7d9f5c/1"), CallSite: p.name("orders/checkout.go:42"),
			Waited: waited}},
	}
	if r.holder == "billing-84cc/1" {
		b.WaitsFor = []state.WaitedPart{{Resource: p.name("stock:eu-central-1:991"), Backend: "redis", Waited: waited}}
	}
	d.Blockers = append(d.Blockers, b)
}

func (p Past) name(s string) string {
	if !p.Hostile {
		return s
	}
	return "<img src=x onerror=alert(1)>\u202e\n" + s + s + s + s + s
}

func add(to, from []int) []int {
	for i, n := range from {
		to[i] += n
	}
	return to
}
