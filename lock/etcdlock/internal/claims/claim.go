// Package claims is the protocol: the claims to a lock are keys in a directory, in the order of the revisions that created
// them, and the first holds the lock.
//
// A key that is created late gets a late revision, so no claim can appear in front of one that was first: who is first
// stays first until its key is gone, and need not ask again. What has to be proved is that the key is there still, and
// stays for as long as the lock: its etcd lease ends on the leader's clock, without a word to the holder.
package claims

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// ErrNoTerm means that no two answers in a row came from the same leader's term.
var ErrNoTerm = driver.WithRemedy(fmt.Errorf("%w: the leader keeps changing", driver.ErrUnreachable),
	`check the members with "lockscope doctor"`)

// Claim is a key of this process in a directory. Readers hold the lock together if no other claim is older than they are.
// The revision that created the key identifies the claim: a key that was deleted and created again is another claim.
type Claim struct {
	want      claimlist.Want
	directory string
	key       string
	sent      time.Duration // when the renewal of its lease was sent that the transaction has to prove; 0: there is none

	// Used only by the calls about the resource, which run one after the other.
	made     int64 // revision that created the key; 0 if unknown
	fence    uint64
	until    time.Duration // when the lock ends without renewal; 0 before it is held
	renaming *time.Timer   // writes the holder's record after a wait

	// A call without an answer may still put or delete the key. Releases of one claim may run at the same time.
	unsure atomic.Bool
	over   atomic.Bool

	mu     sync.Mutex
	leases []*store.Lease // that the key was put under; the last one counts
	keeper *time.Timer    // renews the lease while the claim waits
	left   bool           // the claim no longer waits
}

// Held reports whether the claim was granted the lock.
func (c *Claim) Held() bool { return c.until != 0 }

// Expired reports whether the claim held the lock, and has not been renewed in time.
func (c *Claim) Expired(now time.Duration) bool { return c.until != 0 && now >= c.until }

// Over reports that no key of the claim is left, or that the background sees to that.
func (c *Claim) Over() bool { return c.over.Load() }

// Ticket tells the claim from others of its key; 0 if it is not made.
func (c *Claim) Ticket() int64 { return c.made }

// Granted is the entry of a claim that holds the lock.
func (c *Claim) Granted() claimlist.Entry {
	return claimlist.Entry{Granted: true, Fence: c.fence, Slots: c.want.Slots()}
}

// agrees reports whether the claim may be to a slot of a semaphore with that many.
func (c *Claim) agrees(slots int) bool {
	return c.want.Semaphore == nil || slots == c.want.Semaphore.Slots
}

func (c *Claim) lease() *store.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leases[len(c.leases)-1]
}

// stop ends keep.
func (c *Claim) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	if c.keeper != nil {
		c.keeper.Stop()
	}
}

// is reports whether a key is this claim.
func (c *Claim) is(kv *mvccpb.KeyValue) bool {
	return string(kv.Key) == c.key && kv.CreateRevision == c.made
}

func (c *Claim) isThere() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(c.key), "=", c.made)
}

// rivals is the range of the directory's keys that exclude the claim if they are older.
func (c *Claim) rivals() clientv3.OpOption {
	if c.want.Reads {
		return clientv3.WithRange(c.directory + readerMark)
	}
	return clientv3.WithPrefix()
}

// oldestRival reads the oldest claim that excludes this one.
func (c *Claim) oldestRival() clientv3.Op {
	return clientv3.OpGet(c.directory, append(clientv3.WithFirstCreate(), c.rivals())...)
}

// noRival holds if no claim excludes this one.
func (c *Claim) noRival() clientv3.Cmp {
	free := clientv3.Compare(clientv3.CreateRevision(c.directory), "=", 0)
	if c.want.Reads {
		return free.WithRange(c.directory + readerMark)
	}
	return free.WithPrefix()
}

// Observation is a claim and those that keep it from the lock, the oldest first, as of one revision.
type Observation struct {
	revision int64
	term     uint64           // of the member that answered
	lease    clientv3.LeaseID // that the claim's key is under
	kvs      []*mvccpb.KeyValue
	slots    int // how many the claim's semaphore has; 0 if it is no slot, or none are known
}

// Taken reports whether the observation has found claims.
func (o *Observation) Taken() bool { return o != nil && len(o.kvs) > 0 }
