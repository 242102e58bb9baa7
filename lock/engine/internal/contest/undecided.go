package contest

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
)

const (
	// undecidedTries bounds the attempts of a caller that does not wait.
	undecidedTries = 20
	// undecidedPause is between such attempts. The next one asks the gate first, which decides for one of the callers.
	undecidedPause = 5 * time.Millisecond
)

// undecided counts attempts that leave open whether anybody holds the lock. Callers that ask at the same instant may
// each have some of the nodes: all of them are refused, each in the name of another, and nobody has the lock. Of three
// callers with NoWait and three nodes, each may have one node, and "held" would be wrong for all of them.
type undecided struct {
	tries int
	last  *lock.HeldError // of the attempt that asked most nodes
}

// again reports whether a caller that does not wait should make another attempt after one that ended with res: enough
// nodes answered, no majority of them named one holder, and they did not name the one of the attempt before.
func (u *undecided) again(res ballot.Result) bool {
	if u.tries++; u.tries >= undecidedTries {
		return false
	}
	held, ok := errors.AsType[*lock.HeldError](res.Err)
	if !ok {
		return res.Split && !res.Hopeless
	}
	before := u.last
	if u.last == nil || held.Granted+held.Refused >= before.Granted+before.Refused {
		u.last = held
	}
	return 2*(held.Granted+held.Refused) > held.Nodes && 2*held.Named <= held.Nodes && !held.HandedOver &&
		(before == nil || held.Holder != before.Holder)
}

// most returns err, or the error of an attempt before that asked more nodes: the last one may have asked only the gate.
func (u *undecided) most(err error) error {
	held, ok := errors.AsType[*lock.HeldError](err)
	if ok && u.last != nil && held.Granted+held.Refused < u.last.Granted+u.last.Refused {
		return u.last
	}
	return err
}
