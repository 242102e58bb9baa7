package clock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// probes answer after a time that depends on whether the server rests.
type probes struct {
	mu      sync.Mutex
	resting bool
	n       int
	fail    error
}

func (p *probes) send(context.Context) error {
	p.mu.Lock()
	resting, err := p.resting, p.fail
	p.n++
	p.mu.Unlock()
	if resting {
		time.Sleep(300 * us)
	} else {
		time.Sleep(700 * us)
	}
	return err
}

func (p *probes) rest(r bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting = r
}

// passes reads so many pages that take a while, and returns the number of keys in the last one.
func (p *probes) passes(t *testing.T, pacer *Pacer, pages int) (count int) {
	for range pages {
		count = pacer.Count(1)
		time.Sleep(time.Duration(count) * 2 * us)
		p.rest(true)
		if !pacer.Pause(t.Context()) {
			t.Error("the pause was cut short")
		}
		p.rest(false)
	}
	return count
}

// TestPacerTellsRestsFromPages: if it did not, no probe would be slower than its baseline.
func TestPacerTellsRestsFromPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &probes{}
		p := StartPacer(t.Context(), size, flat, server.send)
		if got := server.passes(t, p, 1); got != size {
			t.Errorf("the first page has %d keys", got)
		}
		if got := server.passes(t, p, 1000); got > size/4 {
			t.Errorf("%d keys in a page, although commands take twice as long meanwhile", got)
		}
		p.Stop()
		sent := server.n
		time.Sleep(time.Second)
		if p.Stop(); server.n != sent {
			t.Error("probes go on after Stop")
		}
	})
}

// TestPacerWithoutAnswers stays at the flat pace: an outage is not fast.
func TestPacerWithoutAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &probes{fail: errors.New("refused")}
		p := StartPacer(t.Context(), size, flat, server.send)
		defer p.Stop()
		began := time.Now()
		if got := server.passes(t, p, 50); got != size || time.Since(began) < 50*flat {
			t.Errorf("%d keys in a page, 50 pages in %v", got, time.Since(began))
		}
	})
}

// TestPauseEndsWithItsContext and reports it.
func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := StartPacer(ctx, size, time.Hour, func(context.Context) error { return nil })
		defer p.Stop()
		began := time.Now()
		time.AfterFunc(time.Second, cancel)
		if p.Pause(ctx) || time.Since(began) != time.Second {
			t.Errorf("the pause took %v", time.Since(began))
		}
	})
}
