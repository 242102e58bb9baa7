package attempt

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// Keep says until when the nodes keep a lock that is released: see lock.MinHold.
type Keep struct {
	Until  time.Duration // on the clock; 0 if the lock is free at once
	Holder string        // the record that it has then
}

// left is for how long a node has to keep the lock, whose clock may run faster than this process's; 0 if it need not. No
// key lives longer than MaxTTL.
func (u *Undoing) left() time.Duration {
	left := u.Keep.Until - u.Grant.Set.Config.Clock()
	if u.Keep.Until == 0 || left <= 0 || u.state == GrantRefused {
		return 0
	}
	return min(left+nodes.Drift(left), u.Grant.Set.Config.MaxTTL)
}

// keeping is a release that keeps the lock for a while. No tombstone is left with it: the record keeps a renewal out that
// comes late, and an acquire finds the lock there.
type keeping Undoing

func (k *keeping) send(call driver.Call, left time.Duration) {
	k.Grant.Extend(call, &driver.ExtendRequest{
		Key: k.Req.Key, Token: k.Req.Token, TTL: left, Holder: k.Keep.Holder, Rename: true, Mode: k.Req.Mode,
		Semaphore: k.Req.Semaphore, Final: true,
	}, k)
}

// Answer implements driver.Answer. A lock that cannot be kept, for the node does not have it or somebody has revoked it,
// is released.
func (k *keeping) Answer(reply driver.ExtendReply, err error) {
	u := (*Undoing)(k)
	_, revoked := errors.AsType[*driver.RevokedError](err)
	if err != nil && !revoked || reply == driver.ExtendDone {
		u.Answer(driver.ReleaseReply{Found: driver.FoundOwn}, err)
		return
	}
	u.Grant.End(u.command, u.Traces, u.Event, nodes.VerdictOf(false), nil)
	u.Keep.Until = 0
	u.send(callqueue.Waiter{})
}
