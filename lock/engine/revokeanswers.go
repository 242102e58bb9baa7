package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// revokeAnswer is what one node said of a resource.
type revokeAnswer = question.Answer[driver.RevokeReply]

// revokeAnswers are those of all nodes to one question, in the order of the nodes.
type revokeAnswers struct {
	nodes  []revokeAnswer
	quorum int
	began  time.Time
}

// grantHolders are the nodes that name one grant.
type grantHolders []revokeAnswer

func (g grantHolders) grant() string { return g[0].Reply.Grant }

// like are the nodes that have what this reply has.
func (a revokeAnswers) like(reply driver.RevokeReply) (same grantHolders) {
	for _, n := range a.nodes {
		if n.Err == nil && n.Reply.Held == reply.Held && n.Reply.Grant == reply.Grant && n.Reply.ByReaders == reply.ByReaders {
			same = append(same, n)
		}
	}
	return same
}

// holder are the nodes of the grant that has a quorum. If none can have one, nobody holds the resource.
func (a revokeAnswers) holder(resource, instance string) (grantHolders, error) {
	unknown, most := 0, 0
	for _, n := range a.nodes {
		same := a.like(n.Reply)
		switch {
		case n.Err != nil:
			unknown++
		case n.Reply.Held && len(same) >= a.quorum:
			return same, a.unrevocable(resource, instance, same)
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
	return nil, a.undecided(resource, lock.OpPeek, func(n revokeAnswer) bool {
		return n.Reply.Held && len(a.like(n.Reply)) == most
	})
}

// unrevocable is why the holder that these nodes name cannot be revoked, or must not be; nil if it can.
func (a revokeAnswers) unrevocable(resource, instance string, same grantHolders) error {
	held := same[0].Reply
	switch {
	case held.ByReaders && len(held.Readers) == 0:
		return fmt.Errorf("lock: revoke of %q: readers hold it: %w", resource, errNoReaders)
	case held.ByReaders:
		return fmt.Errorf("lock: revoke of %q: %w: readers hold it: set Readers in the request, or use "+
			`"lockscope revoke --readers"`, resource, errors.ErrUnsupported)
	case held.Grant == "":
		return fmt.Errorf("lock: revoke of %q: %w: another library wrote this lock, and its holder does not look for marks: "+
			`stop the holder, or use "lockscope repair" if it is a leaked lock in Redis`, resource, errors.ErrUnsupported)
	}
	if is := a.sighting(resource, same).Holder.Instance; instance != "" && is != instance {
		return notHeldError(fmt.Sprintf("lock: revoke of %q: instance %q does not hold it, %q does", resource, instance, is))
	}
	return nil
}

// notHeldError matches lock.ErrNotHeld, and says so in its own words.
type notHeldError string

func (e notHeldError) Error() string { return string(e) }

func (notHeldError) Unwrap() error { return lock.ErrNotHeld }

// undecided is the error of a round in which the nodes that agree are too few.
func (a revokeAnswers) undecided(resource string, op lock.Operation, agrees func(revokeAnswer) bool) *lock.QuorumError {
	return question.NoQuorum(resource, op, a.quorum, a.nodes, agrees)
}

// sighting describes the holder that these nodes name, with the same bounds as a peek.
func (a revokeAnswers) sighting(resource string, same grantHolders) lock.Sighting {
	var seen []question.Answer[driver.PeekReply]
	for _, n := range same {
		seen = append(seen, question.Answer[driver.PeekReply]{At: n.At, Reply: driver.PeekReply{
			Held: true, Counter: n.Reply.Counter, TTL: n.Reply.TTL, Holder: n.Reply.Holder,
		}})
	}
	s := question.Describe(seen, a.quorum, len(a.nodes))
	s.Resource, s.SeenAt = resource, a.began
	return s
}

// revocation is what the second round came to for one holder. Only nodes that were marked count.
func (a revokeAnswers) revocation(seen lock.Sighting, grant, record string) (Revocation, error) {
	r, again := Revocation{Resource: seen.Resource, Nodes: len(a.nodes)}, false
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
			mark, again = n.Reply.Record, true
		}
		if n.Reply.TTL < 0 {
			n.Reply.TTL = math.MaxInt64
		}
		free = append(free, n.Reply.TTL)
	}
	if r.Marked < a.quorum {
		return r, a.undecided(seen.Resource, lock.OpRevoke, func(n revokeAnswer) bool { return n.Err == nil })
	}
	if there+r.Nodes-r.Marked < a.quorum {
		return r, notHeldError(fmt.Sprintf("lock: revoke of %q: its holder has released it meanwhile", seen.Resource))
	}
	r.FreeIn = a.freeIn(free)
	r.Holders = []Revoked{{Sighting: seen, Mark: records.Revoked(seen.Resource, mark), Again: again}}
	return r, nil
}

// freeIn is when a quorum of the marked nodes is free, given when each is. The slice is sorted.
func (a revokeAnswers) freeIn(each []time.Duration) time.Duration {
	slices.Sort(each)
	return each[a.quorum-1]
}
