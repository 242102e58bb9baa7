// Package claims is the protocol: the claims to a lock are sequential nodes of one parent, and the first holds the lock.
//
// A node that is created later gets a higher number, so no claim can appear in front of one that was first. A claim ends
// when its process deletes it, or with the session of its process: others cannot tell that from a process that is slow. So
// what has to be proved is that the session outlives the lock, and only a live leader can: see [Protocol.Enter].
package claims

import (
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Claim is a node of this process in a queue, or one that is being created.
type Claim struct {
	dir, guid string
	leftover  sync.Once // starts the deletion of a claim that a release did not delete

	// A call without an answer may still work on the claim, beside the next one.
	mu       sync.Mutex
	want     claimlist.Want // of the attempt made last
	expired  func()         // is called when the lock's TTL passes without renewal, or the leftover is deleted
	path     string         // "" until it is known to exist
	session  int64          // the session that creates it
	lived    time.Duration  // on the clock: when the session was last known to be alive
	czxid    int64          // of the change that created it; 0 until known
	version  int32          // of its data, as this process has written it
	ends     time.Duration  // on the clock: when expiry fires
	watching string         // name of the watched claim in front
	buried   bool           // given up: it must never hold the lock
	expiry   *time.Timer
	rename   *time.Timer
}

// Continue has a claim that waits go on for another attempt. It returns false if it cannot: a writer that took over a
// reader's claim would hold the lock beside the readers in front.
func (c *Claim) Continue(w claimlist.Want, expired func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.Reads != c.want.Reads {
		return false
	}
	c.want, c.expired = w, expired
	return true
}

// Over reports that the claim was given up.
func (c *Claim) Over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buried
}

// Stop ends the timers of a claim, and reports whether it holds a lock.
func (c *Claim) Stop() (held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopTimers()
	return c.expiry != nil && !c.buried
}

// stopTimers expects the mutex to be held.
func (c *Claim) stopTimers() {
	for _, timer := range []*time.Timer{c.expiry, c.rename} {
		if timer != nil {
			timer.Stop()
		}
	}
}

func (c *Claim) forget() {
	c.mu.Lock()
	expired := c.expired
	c.mu.Unlock()
	expired()
}

func (c *Claim) wanted() claimlist.Want {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want
}

// made records that the claim exists.
func (c *Claim) made(path string, czxid int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path, c.czxid = path, czxid
}

// making records the session that is about to create the claim, and the time.
func (c *Claim) making(session int64, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.lived = session, now
}

// at returns the path of the claim, "" if it does not exist. ok is false if the claim was given up.
func (c *Claim) at() (path string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path, !c.buried
}

// vanished records that a claim probably no longer exists. It returns its former path.
func (c *Claim) vanished() (path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, c.path = c.path, ""
	return path
}

// bury gives a claim up, even while a call works on it. It returns the path to delete, or "".
func (c *Claim) bury() (path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buried = true
	c.stopTimers()
	return c.path
}

// wrote records the version of a claim's data. Answers may come in another order than the writes.
func (c *Claim) wrote(version int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = max(c.version, version)
}

func (c *Claim) writtenVersion() int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// livesFor is how long the session of a claim surely lives from now on, in sessions of that length.
func (c *Claim) livesFor(session, now time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return store.LongestTTL(session) - (now - c.lived)
}

// noteLived records that the session of a claim was alive at some time.
func (c *Claim) noteLived(at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lived = max(c.lived, at)
}
