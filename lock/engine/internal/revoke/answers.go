package revoke

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/peek"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// answer is what one node said of a resource.
type answer = question.Answer[driver.RevokeReply]

// answers are those of all nodes to one question, in the order of the nodes.
type answers struct {
	nodes  []answer
	quorum int
	began  time.Time
}

// grantHolders are the nodes that name one grant.
type grantHolders []answer

func (g grantHolders) grant() string { return g[0].Reply.Grant }

// like are the nodes that have what this reply has.
func (a answers) like(reply driver.RevokeReply) (same grantHolders) {
	for _, n := range a.nodes {
		if n.Err == nil && n.Reply.Held == reply.Held && n.Reply.Grant == reply.Grant && n.Reply.Shared == reply.Shared {
			same = append(same, n)
		}
	}
	return same
}

// holder are the nodes of the grant that has a quorum. If none can have one, nobody holds the resource.
func (a answers) holder(resource string) (grantHolders, error) {
	unknown, most := 0, 0
	for _, n := range a.nodes {
		same := a.like(n.Reply)
		switch {
		case n.Err != nil:
			unknown++
		case n.Reply.Held && len(same) >= a.quorum:
			return same, unrevocable(resource, n.Reply)
		case n.Reply.Held:
			most = max(most, len(same))
		}
	}
	switch {
	case unknown == len(a.nodes) && errors.Is(a.nodes[0].Err, errors.ErrUnsupported):
		return nil, fmt.Errorf("lock: revoke of %q: %w", resource, a.nodes[0].Err)
	case most+unknown < a.quorum:
		return nil, notHeldError(fmt.Sprintf("lock: revoke of %q: nobody holds it", resource))
	}
	return nil, a.undecided(resource, lock.OpPeek, func(n answer) bool {
		return n.Reply.Held && len(a.like(n.Reply)) == most
	})
}

// notHeldError matches lock.ErrNotHeld, and says so in its own words.
type notHeldError string

func (e notHeldError) Error() string { return string(e) }

func (notHeldError) Unwrap() error { return lock.ErrNotHeld }

// unrevocable is why a holder cannot be revoked; nil if it can.
func unrevocable(resource string, held driver.RevokeReply) error {
	switch {
	case held.Shared && len(held.Readers) == 0:
		return fmt.Errorf("lock: revoke of %q: readers hold it: %w", resource, errNoReaders)
	case held.Shared:
		return fmt.Errorf("lock: revoke of %q: %w: readers hold it: revoke them with Engine.RevokeReaders or "+
			`"lockscope revoke --readers"`, resource, errors.ErrUnsupported)
	case held.Grant == "":
		return fmt.Errorf("lock: revoke of %q: %w: another library wrote this lock, and its holder does not look for marks: "+
			`stop the holder, or use "lockscope repair" if it is a leaked lock in Redis`, resource, errors.ErrUnsupported)
	}
	return nil
}

// undecided is the error of a round in which the nodes that agree are too few.
func (a answers) undecided(resource string, op lock.Operation, agrees func(answer) bool) *lock.QuorumError {
	return question.NoQuorum(resource, op, a.quorum, a.nodes, agrees)
}

// sighting describes the holder that these nodes name, with the same bounds as a peek.
func (a answers) sighting(resource string, same grantHolders) lock.Sighting {
	var seen []question.Answer[driver.PeekReply]
	for _, n := range same {
		seen = append(seen, question.Answer[driver.PeekReply]{At: n.At, Reply: driver.PeekReply{
			Held: true, Counter: n.Reply.Counter, TTL: n.Reply.TTL, Holder: n.Reply.Holder,
		}})
	}
	s := peek.Describe(seen, a.quorum, len(a.nodes))
	s.Resource, s.SeenAt = resource, a.began
	return s
}

// revocation is what the second round came to. Only nodes that were marked count.
func (a answers) revocation(seen lock.Sighting, grant, record string) (lock.Revocation, error) {
	r := lock.Revocation{Sighting: seen, Nodes: len(a.nodes)}
	var free []time.Duration
	mark, there := record, 0
	for _, n := range a.nodes {
		if n.Err != nil {
			continue
		}
		r.Marked++
		if n.Reply.Grant == grant {
			there++
		}
		if n.Reply.Record != record {
			mark, r.Again = n.Reply.Record, true
		}
		if n.Reply.TTL < 0 {
			n.Reply.TTL = math.MaxInt64
		}
		free = append(free, n.Reply.TTL)
	}
	if r.Marked < a.quorum {
		return r, a.undecided(seen.Resource, lock.OpRevoke, func(n answer) bool { return n.Err == nil })
	}
	if there+r.Nodes-r.Marked < a.quorum {
		return r, notHeldError(fmt.Sprintf("lock: revoke of %q: its holder has released it meanwhile", seen.Resource))
	}
	r.FreeIn = a.freeIn(free)
	r.Mark = records.Revoked(seen.Resource, mark)
	return r, nil
}

// freeIn is when a quorum of the marked nodes is free, given when each is. The slice is sorted.
func (a answers) freeIn(each []time.Duration) time.Duration {
	slices.Sort(each)
	return each[a.quorum-1]
}
