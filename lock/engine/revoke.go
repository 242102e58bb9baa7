package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// RevokeRequest says who ends somebody else's lease, and why. Its holder learns both, and so does everybody who revokes
// the lease again.
type RevokeRequest struct {
	By     string // the person or program responsible: 1 to 128 bytes, with the characters of a reason
	Reason string // 1 to 256 bytes, as that of [lock.HoldReason]
	// Readers ends the leases of the readers of a read/write lock. Without it, Revoke ends no reader's.
	Readers bool
	// Instance selects the holder of one process, as [lock.Holder] names it; "" selects any holder.
	Instance string
	// Confirm is called with the selected holders before any node is marked: several if they are readers. Held is false
	// for a reader that only a minority of the nodes named. An error ends Revoke, which wraps it. Write down there what is
	// about to happen. It may be nil.
	Confirm func([]lock.Sighting) error
}

// validate fails with [lock.ErrInvalidOption] if a text is empty, too long or not printable.
func (r *RevokeRequest) validate() error {
	if err := records.ValidateBy(r.By); err != nil {
		return err
	}
	return records.ValidateReason(r.Reason)
}

// Revocation is the result of revoking leases. None of them can be renewed any more. Each ends by its holder's own
// timer, or at that holder's next renewal; until then it is valid.
type Revocation struct {
	Resource string
	Holders  []Revoked // one, or at least one reader; the longest there first
	// FreeIn is when these holders keep nobody out any more, at the latest. It counts from the end of Revoke. Somebody
	// else may have the resource by then, and other readers may hold it longer. It assumes that no node goes back to an
	// older copy of its data.
	FreeIn time.Duration
	// Marked of Nodes refuse the leases from now on: a majority at least.
	Marked, Nodes int
}

// Revoked is one holder whose lease was revoked.
type Revoked struct {
	lock.Sighting                   // as it was before the revoke
	Mark          lock.RevokedError // what the holder reads. If the lease was revoked before, the earlier mark
	Again         bool              // the lease was revoked before
}

// Revoke keeps the lease of the resource's holder from being renewed, whichever process has it, or those of its readers
// if the request says so. A lease stays valid until its holder's timer ends it, or until its holder's next renewal finds out. Only then can the
// resource be acquired again: by anybody, for Revoke bars nobody. The cause of the lease's end is a *lock.RevokedError
// that matches lock.ErrLost. The lock stays on the nodes until the holder releases it or its TTL is over, so that its
// work has time to stop.
//
// Revoke first asks all nodes who holds the resource, then marks that grant on all of them. It takes two node
// timeouts at most, and the time of req.Confirm. A lease that was handed over inside its process meanwhile is on the
// same grant and ends, too. A second Revoke of a lease changes nothing; it returns the first one's mark. Revoke may
// run beside other calls. Traces do not report it.
//
// For the name of a semaphore's slot, NAME#3, Revoke ends that permit. Of readers it marks every selected one that any
// node names. A reader that is granted between the two rounds is not marked: call Revoke again. Readers that come later
// are kept out only by a writer that waits.
//
// Revoke fails with:
//   - lock.ErrInvalidResource and lock.ErrInvalidOption, before any node is asked;
//   - lock.ErrNotHeld if nobody who is selected holds the resource, or has released it meanwhile;
//   - errors.ErrUnsupported if readers hold it and the request is not for readers, if another library holds it, or if
//     the driver cannot revoke: stop the holder;
//   - *lock.QuorumError if too few nodes answered or were marked. The holder may then be renewed: call Revoke again;
//   - the error of req.Confirm, before any node is marked;
//   - the error of ctx if that ends first, and lock.ErrClosed after Close. Nodes may be marked then.
func (e *Engine) Revoke(ctx context.Context, resource string, req RevokeRequest) (Revocation, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return Revocation{}, err
	}
	if err := req.validate(); err != nil {
		return Revocation{}, err
	}
	asked, err := askRevoke(ctx, e.Set, driver.RevokeRequest{Key: e.Config.Prefix + resource})
	if err != nil {
		return Revocation{}, fmt.Errorf("lock: revoke of %q: %w", resource, err)
	}
	if req.Readers {
		return revokeReaders(ctx, e.Set, asked, resource, req)
	}
	holder, err := asked.holder(resource, req.Instance)
	if err != nil {
		return Revocation{}, err
	}
	seen := asked.sighting(resource, holder)
	record, err := req.confirmed(resource, []lock.Sighting{seen})
	if err != nil {
		return Revocation{}, err
	}
	marked, err := askRevoke(ctx, e.Set, driver.RevokeRequest{
		Key: e.Config.Prefix + resource, Grant: holder.grant(), Record: record, Keep: keepMark(e.Set),
	})
	if err != nil {
		return Revocation{}, fmt.Errorf("lock: revoke of %q: nodes may be marked: %w", resource, err)
	}
	return marked.revocation(seen, holder.grant(), record)
}

// confirmed is the record of the marks, once the caller agrees.
func (r *RevokeRequest) confirmed(resource string, holders []lock.Sighting) (record string, err error) {
	if r.Confirm != nil {
		if err := r.Confirm(holders); err != nil {
			return "", fmt.Errorf("lock: revoke of %q: %w", resource, err)
		}
	}
	return string(records.AppendMark(nil, r.By, r.Reason, time.Now())), nil
}

// askRevoke sends one request to all nodes and waits for every answer, for at most one node timeout.
func askRevoke(ctx context.Context, e *nodes.Set, req driver.RevokeRequest) (revokeAnswers, error) {
	all, began, err := question.Ask(ctx, e, question.Question[driver.RevokeReply]{
		Timeout: e.Config.LongestNodeTimeout(),
		Send: func(n driver.Node, call driver.Call, to driver.Answer[driver.RevokeReply]) {
			n.Revoke(call, &req, to)
		},
	})
	return revokeAnswers{nodes: all, quorum: e.Quorum, began: began}, err
}

// keepMark is how long nodes keep a mark. Its lease lives at most one TTL after the last renewal that began before the
// marks were made, and the marks of one act are made within one node timeout. A call of the lease that arrives later
// than a tombstone is expected to be needed is barred as long.
func keepMark(e *nodes.Set) time.Duration { return 2 * e.TombstoneTTL() }
