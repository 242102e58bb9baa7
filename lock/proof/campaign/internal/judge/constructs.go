//go:build linux

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// Claim is a term, a permit, a set, or a reader's or writer's lease, as its events tell it.
type Claim struct {
	Worker   *Worker
	ID       int64
	What     history.Construct
	Resource string
	Slot     string
	Fence    uint64

	From, SeenValid, Until int64
	yielded                bool
}

func (c *Claim) String() string {
	s := fmt.Sprintf("%s %d of %s", c.What, c.ID, c.Worker.Name)
	if c.Slot != "" {
		s += ", slot " + c.Slot
	}
	if c.Fence != 0 {
		s += fmt.Sprintf(", fence %d", c.Fence)
	}
	return s
}

// End is when it was certainly not over yet: that of a process that was killed, until its validity had expired.
func (c *Claim) End() int64 {
	if c.yielded {
		return c.SeenValid
	}
	return c.Until
}

func claimsOf(w *Worker) (all []*Claim) {
	claims := make(map[int64]*Claim)
	for _, e := range w.Events {
		c := claims[e.ID]
		switch {
		case e.Kind == history.Claimed && c == nil:
			c = &Claim{Worker: w, ID: e.ID, What: e.Construct, Resource: e.Resource, Slot: e.Text, Fence: e.Fence,
				From: e.T, SeenValid: e.T, Until: e.Until}
			claims[e.ID], all = c, append(all, c)
		case e.Kind == history.Claimed:
			c.SeenValid, c.Until = max(c.SeenValid, e.T), max(c.Until, e.Until)
		case e.Kind == history.Yielded && c != nil:
			c.yielded = true
		}
	}
	return all
}

// constructs looks at everything that is built on locks, and counts it.
func (c *court) constructs() map[history.Construct]int {
	counts := make(map[history.Construct]int)
	groups := make(map[string][]*Claim) // by what excludes one another
	var end int64
	for _, w := range c.evidence.Workers {
		if n := len(w.Events); n > 0 {
			end = max(end, w.Events[n-1].T)
		}
		for _, claim := range claimsOf(w) {
			counts[claim.What]++
			for _, key := range keysOf(claim) {
				groups[key] = append(groups[key], claim)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		claims := groups[key]
		slices.SortFunc(claims, func(a, b *Claim) int { return int(a.From - b.From) })
		judge, _, _ := strings.Cut(key, ":")
		limit := 1
		if strings.HasSuffix(key, allSlots) {
			limit = worker.Permits
		}
		c.together(judge, claims, limit)
		c.goOn(judge, claims, end)
		if limit == 1 {
			c.rise(judge, claims)
		}
	}
	return counts
}

// allSlots ends the group of all permits of a semaphore.
const allSlots = "#all"

// keysOf are the groups of a claim, each with the judge in front.
func keysOf(c *Claim) []string {
	switch c.What {
	case history.Term:
		return []string{Elections + ":" + c.Resource}
	case history.Permit:
		return []string{Permits + ":" + c.Resource + allSlots, Permits + ":" + c.Resource + "#" + c.Slot}
	case history.Set:
		var keys []string
		for member := range strings.SplitSeq(c.Resource, ",") {
			keys = append(keys, Sets+":"+member)
		}
		return keys
	default:
		return []string{ReadWrite + ":" + c.Resource}
	}
}

// together: never more than limit are valid at one time. Readers count for nothing beside readers.
func (c *court) together(judge string, claims []*Claim, limit int) {
	var open []*Claim
	for _, claim := range claims {
		open = slices.DeleteFunc(open, func(o *Claim) bool { return o.End() <= claim.From })
		var against []*Claim
		for _, o := range open {
			if o.What != history.ReadLock || claim.What != history.ReadLock {
				against = append(against, o)
			}
		}
		if len(against) >= limit && claim.End() > claim.From {
			c.find(judge, claim.Resource, claim.From, "%v is valid beside %v", claim, against)
		}
		open = append(open, claim)
	}
}

// lull is the longest time without a grant of what many want. If it is longer, somebody keeps it without knowing.
const lull = 10 * time.Minute

// goOn: somebody gets it again and again, until the end.
func (c *court) goOn(judge string, claims []*Claim, end int64) {
	last := claims[0]
	check := func(next int64) {
		if since := time.Duration(next - last.From); since > lull {
			c.find(judge, last.Resource, last.From, "nobody got it for %v after %v", since.Round(time.Second), last)
		}
	}
	for _, claim := range claims[1:] {
		check(claim.From)
		last = claim
	}
	check(end)
}

// rise: the fences of terms, of writers and of each slot increase, and a reader's is not below that of a writer before.
func (c *court) rise(judge string, claims []*Claim) {
	var last *Claim
	for _, claim := range claims {
		if claim.What == history.Set {
			return // its members have fences, and the ledger is not asked about them
		}
		if last != nil && (claim.Fence < last.Fence || claim.Fence == last.Fence && claim.What != history.ReadLock) {
			c.find(judge, claim.Resource, claim.From, "fences go back: %v after %v", claim, last)
		}
		if claim.What != history.ReadLock {
			last = claim
		}
	}
}
