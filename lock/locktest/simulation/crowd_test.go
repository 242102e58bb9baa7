package simulation

import (
	"math/rand/v2"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// addCrowds gives some clients workers that all want one resource at the same time, for moments each. They queue in
// their process, where leases are handed over. It has its own generator, so that the rest of a history does not change.
func (p *plan) addCrowds(s scope) {
	r := rand.New(rand.NewPCG(p.seed, 4))
	if s.holdLong || s.close || chance(r, 0.6) {
		return
	}
	at, ttl := upTo(r, time.Second), simMaxTTL/2+upTo(r, simMaxTTL/2)
	for i := range p.clients {
		if chance(r, 0.3) {
			continue
		}
		for range 3 + r.IntN(4) {
			ops := make([]op, 1+r.IntN(4))
			for j := range ops {
				ops[j] = p.crowdOp(r, ttl)
			}
			ops[0].before = at + upTo(r, 20*time.Millisecond)
			p.clients[i].workers = append(p.clients[i].workers, ops)
		}
	}
}

// crowdOp returns an op that can usually be handed the lock.
func (p *plan) crowdOp(r *rand.Rand, ttl time.Duration) op {
	o := op{
		before: upTo(r, 2*time.Millisecond), ttl: ttl, hold: upTo(r, 3*time.Millisecond),
		register: time.Millisecond, twice: chance(r, 0.2), cancelled: chance(r, 0.1),
	}
	switch r.IntN(12) {
	case 0:
		o.add("Fair")(lock.Fair())
	case 1:
		o.add("NoRenew")(lock.NoRenew())
	case 2:
		o.ttl /= 2
	case 3:
		o.cancel = 1 + upTo(r, 20*time.Millisecond)
	case 4:
		o.add("MaxHold(%v)", time.Millisecond)(lock.MaxHold(time.Millisecond))
	case 5:
		o.extend = 1 + upTo(r, time.Millisecond)
	case 6:
		o.hold = upTo(r, 30*time.Millisecond)
	}
	wait := time.Millisecond + upTo(r, 4*time.Second)
	o.add("TTL(%v)", o.ttl)(lock.TTL(o.ttl))
	o.add("MaxWait(%v)", wait)(lock.MaxWait(wait))
	return o
}
