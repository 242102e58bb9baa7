package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// revokeReaders marks the readers that the request selects on all nodes, whose answers say who reads.
func revokeReaders(
	ctx context.Context, e *nodes.Set, asked revokeAnswers, resource string, req RevokeRequest,
) (Revocation, error) {
	readers, err := asked.readers(resource, req.Instance)
	if err != nil {
		return Revocation{}, err
	}
	record, err := req.confirmed(resource, readers.sightings())
	if err != nil {
		return Revocation{}, err
	}
	marked, err := askRevoke(ctx, e, driver.RevokeRequest{
		Key: e.Config.Prefix + resource, Readers: readers.grants(), Record: record, Keep: keepMark(e),
	})
	if err != nil {
		return Revocation{}, fmt.Errorf("lock: revoke of readers of %q: nodes may be marked: %w", resource, err)
	}
	return marked.ofReaders(resource, readers, record)
}

// reader is a reader as some nodes know it.
type reader struct {
	grant string
	seen  lock.Sighting
}

type readers []reader

func (r readers) grants() (all []string) {
	for _, one := range r {
		all = append(all, one.grant)
	}
	return all
}

func (r readers) sightings() (all []lock.Sighting) {
	for _, one := range r {
		all = append(all, one.seen)
	}
	return all
}

// readers are those that any node names, or those of one instance. A reader on a minority of the nodes keeps a writer
// out, too, together with others. A reader with a lease is on a quorum, so any quorum of answers names it.
func (a revokeAnswers) readers(resource, instance string) (readers, error) {
	answered, cannot, named := 0, 0, make(map[string][]question.Answer[driver.PeekReply])
	for _, n := range a.nodes {
		switch {
		case errors.Is(n.Err, errors.ErrUnsupported), n.Err == nil && n.Reply.ByReaders && len(n.Reply.Readers) == 0:
			cannot++
		case n.Err == nil:
			answered++
		}
		for _, r := range n.Reply.Readers {
			named[r.Grant] = append(named[r.Grant], question.Answer[driver.PeekReply]{At: n.At, Reply: driver.PeekReply{
				Held: true, Counter: r.Counter, TTL: r.TTL, Holder: r.Holder,
			}})
		}
	}
	switch {
	case cannot > 0:
		return nil, fmt.Errorf("lock: revoke of readers of %q: %w", resource, errNoReaders)
	case answered < a.quorum:
		return nil, a.undecided(resource, lock.OpPeek, func(n revokeAnswer) bool { return n.Err == nil })
	}
	var found readers
	for grant, same := range named {
		seen := a.sightingOfReader(resource, same)
		if instance == "" || seen.Holder.Instance == instance {
			found = append(found, reader{grant, seen})
		}
	}
	if len(found) == 0 {
		return nil, a.nobodyReads(resource, instance)
	}
	slices.SortFunc(found, func(x, y reader) int {
		return cmp.Or(x.seen.Holder.Since.Compare(y.seen.Holder.Since),
			cmp.Compare(x.seen.Holder.Instance, y.seen.Holder.Instance), cmp.Compare(x.grant, y.grant))
	})
	return found, nil
}

// errNoReaders is the answer of a driver that revokes holders, and no readers.
var errNoReaders = fmt.Errorf("%w: this driver cannot revoke readers: find their processes with "+
	`"lockscope list" and stop them`, errors.ErrUnsupported)

func (a revokeAnswers) nobodyReads(resource, instance string) error {
	alone := slices.ContainsFunc(a.nodes, func(n revokeAnswer) bool {
		return n.Err == nil && n.Reply.Held && !n.Reply.ByReaders
	})
	why := "nobody reads it"
	switch {
	case alone:
		why = "no reader holds it: revoke its one holder instead"
	case instance != "":
		why = fmt.Sprintf("no reader of instance %q holds it", instance)
	}
	return notHeldError(fmt.Sprintf("lock: revoke of readers of %q: %s", resource, why))
}

// sightingOfReader describes the reader that these nodes name. If they are a minority, then the reader has no lease
// yet, or the other nodes have forgotten it: only the latest end is a bound then.
func (a revokeAnswers) sightingOfReader(resource string, same []question.Answer[driver.PeekReply]) lock.Sighting {
	s := question.Describe(same, a.quorum, min(len(a.nodes), a.quorum+len(same)-1))
	s.Resource, s.SeenAt, s.Held = resource, a.began, len(same) >= a.quorum
	return s
}

// ofReaders is what the second round came to. Only nodes that marked every reader count.
func (a revokeAnswers) ofReaders(resource string, of readers, record string) (Revocation, error) {
	r := Revocation{Resource: resource, Nodes: len(a.nodes)}
	marked := func(n revokeAnswer) bool {
		return n.Err == nil && !slices.ContainsFunc(of, func(one reader) bool { return find(n, one.grant).Record == "" })
	}
	var free []time.Duration
	for _, n := range a.nodes {
		if marked(n) {
			r.Marked++
			free = append(free, lastOf(n, of))
		}
	}
	if r.Marked < a.quorum {
		return r, a.undecided(resource, lock.OpRevoke, marked)
	}
	for _, one := range of {
		revoked, there := Revoked{Sighting: one.seen, Mark: records.Revoked(resource, record)}, false
		for _, n := range a.nodes {
			its := find(n, one.grant)
			there = there || its.Held
			if its.Record != "" && its.Record != record {
				revoked.Mark, revoked.Again = records.Revoked(resource, its.Record), true
			}
		}
		if there {
			r.Holders = append(r.Holders, revoked)
		}
	}
	if len(r.Holders) == 0 {
		return r, notHeldError(fmt.Sprintf("lock: revoke of readers of %q: they have released it meanwhile", resource))
	}
	r.FreeIn = a.freeIn(free)
	return r, nil
}

// find is what a node knows of a reader.
func find(n revokeAnswer, grant string) driver.RevokeReader {
	if n.Err == nil {
		for _, r := range n.Reply.Readers {
			if r.Grant == grant {
				return r
			}
		}
	}
	return driver.RevokeReader{}
}

// lastOf is when the last of these readers ends on a node. Readers that last longest on different nodes keep a writer
// out for longer than each of them does, so each node is asked for all of them.
func lastOf(n revokeAnswer, of readers) (last time.Duration) {
	for _, one := range of {
		its := find(n, one.grant)
		if its.TTL < 0 {
			return math.MaxInt64
		}
		last = max(last, its.TTL)
	}
	return last
}
