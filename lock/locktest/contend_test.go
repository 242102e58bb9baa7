package locktest_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
)

// TestContend counts two clients of a mutex, and reports the error of a third.
func TestContend(t *testing.T) {
	var mu sync.Mutex
	worked := 0
	client := func(_ string, work func()) error {
		mu.Lock()
		defer mu.Unlock()
		worked++
		work()
		return nil
	}
	const d = 50 * time.Millisecond
	failed := &failures{TB: t}
	c := locktest.Contend(failed, d, []locktest.Pair{client, client, func(string, func()) error { return errors.New("no server") }})
	if got := c.Locks * d.Seconds(); int(got+0.5) != worked || worked == 0 {
		t.Errorf("%.1f locks, want %d", got, worked)
	}
	if c.HandOffs > c.Locks || c.Jain <= 0 || c.Jain > 2./3+1e-9 {
		t.Errorf("%+v: more hand-offs than locks, or fairer than a client without any allows", c)
	}
	if failed.n != 1 {
		t.Errorf("%d errors reported, want that of the client without a server", failed.n)
	}
}

type failures struct {
	testing.TB
	n int
}

func (f *failures) Error(...any) { f.n++ }
