package spare

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSpare plays a pool of four whose users take two at once: it gives up two, a minute apart, and no more.
func TestSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, w, idle := time.Now(), Watch{Every: time.Minute}, 4
		var givenUp []time.Duration
		for time.Since(began) < 10*time.Minute {
			for range 2 {
				idle--
				w.Took(idle)
			}
			for range 2 {
				idle++
				if w.Spare(idle) {
					givenUp = append(givenUp, time.Since(began))
					idle--
				}
			}
			time.Sleep(5 * time.Second)
		}
		if len(givenUp) != 2 || givenUp[1]-givenUp[0] < time.Minute {
			t.Errorf("gave up after %v, want two, a minute apart", givenUp)
		}
	})
}

// TestWhatWasNeededOnceIsNotSpare: one call that takes all of them since the last look is enough.
func TestWhatWasNeededOnceIsNotSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Watch{Every: time.Minute}
		w.Spare(3)
		w.Took(0)
		w.Took(2)
		time.Sleep(time.Minute)
		if w.Spare(3) {
			t.Error("all were taken at once, and one is said to be spare")
		}
		w.Took(1)
		time.Sleep(time.Minute)
		if !w.Spare(3) {
			t.Error("one was idle for a minute, and none is said to be spare")
		}
	})
}
