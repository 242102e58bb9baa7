package lanes

import (
	"errors"
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

// TestAFailedDialIsNotRepeatedAtOnce: while a node has a connection, it does without another one for a while after a
// dial failed, however slow it is. Without any connection, each command dials.
func TestAFailedDialIsNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = time.Second / 8
		var running sync.WaitGroup
		var p *pool
		full, dials := false, 0
		p = newPool(func(l *lane) {
			running.Go(func() {
				for p.await(l) {
					if !l.isConnected() {
						if dials++; full {
							p.failDial(time.Now(), errors.New("max number of clients reached"))
							p.skip(l)
							continue
						}
						p.connect(l)
					}
					p.take(l)
					time.Sleep(slow)
					p.complete(l)
				}
			})
		}, func() {}, false)
		commands := func() {
			for range 4 * int(extraPause/slow) {
				p.submit(&Command{Call: driver.Call{Deadline: time.Now().Add(time.Hour)}})
				time.Sleep(slow / 4)
				synctest.Wait()
			}
		}
		p.submit(&Command{Call: driver.Call{Deadline: time.Now().Add(time.Hour)}})
		synctest.Wait()
		full = true
		if commands(); dials < 2 || dials > 3 {
			t.Errorf("%d dials, want the first and no more than one each %v", dials, extraPause)
		}
		time.Sleep(extraPause)
		full, dials = false, 0
		if commands(); dials == 0 || len(p.all) != maxLanes {
			t.Errorf("%d dials and %d lanes after the server takes connections again", dials, len(p.all))
		}
		p.close()
		running.Wait()
		p.alarm.stop()
	})
}

// TestOneLaneConnectsAtATime: a node that does not answer is not dialled by several lanes.
func TestOneLaneConnectsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := 0
		p := newPool(func(*lane) { started++ }, func() {}, false)
		for range 20 {
			p.submit(&Command{Call: driver.Call{Deadline: time.Now().Add(time.Hour)}})
			time.Sleep(2 * connecting)
		}
		if started != 1 {
			t.Errorf("%d lanes connect at once", started)
		}
		p.alarm.stop()
	})
}

// TestADialThatFailedSpeaksForAsLongAsItTook, within bounds: a node that is slow to refuse is not dialled all the time.
func TestADialThatFailedSpeaksForAsLongAsItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, pause := range map[time.Duration]time.Duration{
			0: time.Millisecond, 40 * time.Millisecond: 40 * time.Millisecond, time.Minute: time.Second,
		} {
			var r dialRecord
			began, refused := time.Now(), errors.New("refused")
			time.Sleep(took)
			r.fail(began, refused)
			if time.Sleep(pause - time.Nanosecond); r.refusal() == nil {
				t.Errorf("a dial that failed after %v is repeated within %v", took, pause)
			}
			if time.Sleep(time.Nanosecond); r.refusal() != nil {
				t.Errorf("a dial that failed after %v is not repeated after %v", took, pause)
			}
		}
	})
}

// TestANodeThatRefusesIsDialledLessAndLess, until it answers once.
func TestANodeThatRefusesIsDialledLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r dialRecord
		dials := func(within time.Duration) (n int) {
			for began := time.Now(); time.Since(began) < within; time.Sleep(time.Millisecond) {
				if r.refusal() == nil {
					r.fail(time.Now(), errors.New("refused"))
					n++
				}
			}
			return n
		}
		if n := dials(127 * time.Millisecond); n != 7 {
			t.Errorf("%d dials in the first 127 ms, want 7", n)
		}
		if n := dials(10 * 128 * time.Millisecond); n != 10 {
			t.Errorf("%d dials in 1.28 s after that, want 10", n)
		}
		r.succeed()
		if n := dials(7 * time.Millisecond); n != 3 {
			t.Errorf("%d dials in 7 ms after a connection, want 3", n)
		}
	})
}
