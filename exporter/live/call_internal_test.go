package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// TestARefusalIsAsOldAsItsAttempt, also where it is told late, for the process has no CPU: a lease that was granted meanwhile is younger.
func TestARefusalIsAsOldAsItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, err := New()
		if err != nil {
			t.Fatal(err)
		}
		l := &locker{board: board}
		l.layer = decorate.NewLayer(l.newHooks())
		c := &call{owner: l, shard: &board.shards[0], resource: "job", began: time.Now()}
		c.Start(t.Context(), l.layer, c)
		time.Sleep(time.Second)
		l.onAttemptStart(c, lock.AttemptStart{Attempt: 1})
		time.Sleep(time.Second)
		l.onAttemptEnd(c, lock.AttemptEnd{Took: time.Millisecond, Err: &lock.HeldError{Nodes: 3, Refused: 3}})
		if c.asOf != time.Second {
			t.Errorf("of an attempt that began after a second it is %v old", c.asOf)
		}
	})
}
