package rwlock_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// history is three processes that read and write on three servers in memory, over a network that loses, delays and
// repeats messages, while servers stop, crash and forget.
type history struct {
	*testing.T
	judge
	r       *rand.Rand
	servers []*locktest.FakeServer
	trust   bool // nodes that forgot vote at once

	operates bool // an operator revokes readers now and then
	unmarked bool // processes do not know marks
	revoked  int  // how often the operator did
}

const (
	historyTTL = 2 * time.Second
	// Longer than any forgotten lease.
	historyQuarantine = 3 * time.Second
	configuration     = "3:a" // a set of three, as a marker names it
)

// run plays one history, and returns what was broken and how many readers were there at once. rate is that of the
// servers' clocks.
func run(t *testing.T, seed uint64, trust bool, rate float64) (broken []string, most int) {
	return play(t, seed, &history{trust: trust}, rate)
}

func play(t *testing.T, seed uint64, h *history, rate float64) (broken []string, most int) {
	synctest.Test(t, func(t *testing.T) {
		h.T, h.r = t, rand.New(rand.NewPCG(seed, 7))
		for _, name := range []string{"a", "b", "c"} {
			s := locktest.NewFakeServer(name, locktest.WithRate(rate*(1+(h.r.Float64()-0.5)/200)))
			defer s.Close()
			s.Vouch(configuration)
			h.servers = append(h.servers, s)
		}
		var callers, operators sync.WaitGroup
		var engines []*engine.Engine
		for p := range 3 {
			e := h.process(seed*10 + uint64(p))
			engines = append(engines, e)
			for caller := range 3 {
				luck := rand.New(rand.NewPCG(seed, uint64(100+10*p+caller)))
				callers.Go(func() { h.work(of(t, e), luck) })
			}
		}
		done := make(chan struct{})
		if h.operates {
			e, luck := h.process(seed*10+9), rand.New(rand.NewPCG(seed, 99))
			engines = append(engines, e)
			operators.Go(func() { h.operate(e, luck, done) })
		}
		go func() {
			defer close(done)
			callers.Wait()
		}()
		h.disturb(done)
		<-done
		operators.Wait()
		for _, e := range engines {
			must(t, e.Close())
		}
		broken, most = h.verdict()
	})
	return broken, most
}

func (h *history) process(seed uint64) *engine.Engine {
	began := time.Now()
	rate := 1 + (h.r.Float64()-0.5)/200
	clock := func() time.Duration { return time.Duration(float64(time.Since(began)) * rate) }
	guards := locktest.NewGuards(clock, historyQuarantine, !h.trust, configuration)
	var nodes []driver.Node
	for i, s := range h.servers {
		nodes = append(nodes, engine.Async(h.link(s.ConnectGuarded(seed*10+uint64(i), locktest.Faults{
			RequestDelay: locktest.LongTail(100*time.Microsecond, 5*time.Millisecond, 100*time.Millisecond, 0.05),
			ReplyDelay:   locktest.LongTail(100*time.Microsecond, 5*time.Millisecond, 100*time.Millisecond, 0.05),
			LoseRequest:  0.02, LoseReply: 0.02, LoseWake: 0.1,
			Late: 0.02, LateBy: locktest.Between(100*time.Millisecond, 2*time.Second),
			Duplicate: 0.02, DuplicateAfter: locktest.Between(0, time.Second),
		}, guards))))
	}
	e, err := engine.NewEngine(nodes, engine.WithClock(clock), lock.WithMaxTTL(historyTTL),
		lock.WithNodeTimeout(150*time.Millisecond), lock.WithInstance(fmt.Sprint("process", seed)))
	must(h, err)
	return e
}

// work reads and writes in turn, holds for some time, and does not always release.
func (h *history) work(rw *rwlock.RWLock, luck *rand.Rand) {
	for range 8 {
		acquire, writes := rw.RLock, luck.IntN(3) == 0
		if writes {
			acquire = rw.Lock
		}
		ttl := []time.Duration{time.Second, historyTTL}[luck.IntN(2)]
		opts := []lock.AcquireOption{lock.TTL(ttl), lock.MaxWait(20 * time.Second),
			lock.MaxHold(3 * time.Second)}
		if luck.IntN(3) == 0 {
			opts = append(opts, lock.NoRenew())
		}
		atLeast := h.asks(writes)
		lease, err := acquire(h.Context(), opts...)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		h.begins(lease, writes, atLeast)
		time.Sleep(time.Duration(luck.Int64N(int64(1500 * time.Millisecond))))
		if luck.IntN(5) == 0 {
			<-lease.Context().Done() // by MaxHold at the latest: nothing is released then
			h.ends(lease)
			continue
		}
		h.ends(lease)
		_ = lease.Release(h.Context())
	}
}

// disturb stops, crashes and empties one server after another.
func (h *history) disturb(done <-chan struct{}) {
	for {
		s := h.servers[h.r.IntN(len(h.servers))]
		pause := time.Duration(h.r.Int64N(int64(3 * time.Second)))
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
		switch h.r.IntN(3) {
		case 0:
			s.Pause()
			time.Sleep(time.Duration(h.r.Int64N(int64(3 * time.Second))))
			s.Resume()
		case 1:
			s.Crash()
			time.Sleep(time.Duration(h.r.Int64N(int64(time.Second))))
			s.Restart()
		case 2:
			s.Crash()
			time.Sleep(time.Duration(h.r.Int64N(int64(time.Second))))
			s.RestartEmpty(0) // the guard keeps it from voting
		}
	}
}

func TestHistories(t *testing.T) {
	most := 0
	for seed := range uint64(60) {
		broken, readers := run(t, seed, false, 1)
		if len(broken) > 0 {
			t.Fatalf("seed %d: %d times: %s", seed, len(broken), broken[0])
		}
		most = max(most, readers)
	}
	if most < 3 {
		t.Errorf("at most %d readers shared the lock", most)
	}
}

// TestHistoriesNotice are the controls: nodes that forget and vote at once, and clocks of nodes that run too fast.
func TestHistoriesNotice(t *testing.T) {
	for name, c := range map[string]struct {
		trust bool
		rate  float64
	}{
		"a missing quarantine": {trust: true, rate: 1},
		"fast nodes":           {rate: 2},
	} {
		noticed := false
		for seed := uint64(0); seed < 60 && !noticed; seed++ {
			broken, _ := run(t, seed, c.trust, c.rate)
			noticed = len(broken) > 0
		}
		if !noticed {
			t.Errorf("%s goes unnoticed", name)
		}
	}
}
