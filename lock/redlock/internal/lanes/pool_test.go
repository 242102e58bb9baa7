package lanes

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// TestLanesOfASlowNodeEnd: a node that was slow gives connections back, but for the one that the commands after it
// need, and has several again when it is slow again.
func TestLanesOfASlowNodeEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = time.Second
		var running sync.WaitGroup
		var p *pool
		p = newPool(func(l *lane) {
			running.Go(func() {
				for p.await(l) {
					p.connect(l)
					p.take(l)
					time.Sleep(slow)
					p.complete(l)
				}
				p.disconnect(l)
			})
		}, func() {}, false)
		commands := func(n int) {
			for range n {
				p.submit(&Command{Call: driver.Call{Deadline: time.Now().Add(time.Hour)}})
				time.Sleep(slow / 4)
			}
			time.Sleep(2 * slow)
			synctest.Wait()
		}
		for range 2 {
			if commands(2 * maxLanes); len(p.all) != maxLanes {
				t.Errorf("%d lanes of a slow node, want %d", len(p.all), maxLanes)
			}
			for range 2 * maxLanes {
				time.Sleep(spareInterval)
				commands(1)
			}
			if len(p.all) != 1 || !slices.Equal(p.all, p.idle) || p.connections().Open != 1 {
				t.Errorf("%d lanes, %d idle ones and %d connections after commands that need one", len(p.all),
					len(p.idle), p.connections().Open)
			}
		}
		p.close()
		running.Wait()
		p.alarm.stop()
	})
}
