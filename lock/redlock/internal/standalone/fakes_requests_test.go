package standalone

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesScripts plays random requests to the node of a real Redis and to that of a FakeServer, and compares every
// answer and what it leaves behind. The simulation is only as good as the fake is like the scripts.
func TestFakeMatchesScripts(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = client.Close() })
	for _, c := range []struct {
		name         string
		seeds, steps int
		next         func(p *pair, seed, step int) any
		compared     []string // outcomes that each come about
	}{
		{"locks", 60, 120, (*pair).nextOfLock, []string{
			"lock: acquire granted", "lock: acquire held", "lock: acquire reserved", "lock: acquire: attempt was already given up",
			"lock: acquire: fence counter cannot be incremented", "lock: raise true", "lock: raise false", "lock: extend done",
			"lock: extend refilled", "lock: extend taken", "lock: release of its own", "peek true",
		}},
		{"readers and writers", 60, 150, (*pair).nextOfReaders, []string{
			"reader: acquire granted", "writer: acquire granted", "reader: acquire held", "writer: acquire held",
			"reader: acquire reserved", "writer: acquire reserved", "reader: acquire: attempt was already given up",
			"reader: raise true", "reader: extend done", "reader: extend refilled", "reader: extend taken",
			"reader: release of its own", "writer: release of its own",
		}},
		{"revokes", 40, 60, (*pair).nextRevoke, []string{"revoke true", "revoke false", "lock: extend of a revoked one"}},
		{"revokes of readers", 40, 80, (*pair).nextRevokeOfReaders, []string{
			"reader: acquire granted", "writer: acquire granted", "reader: acquire: attempt was already given up",
			"reader: extend done", "reader: extend of a revoked one",
		}},
		{"slots", 40, 60, (*pair).nextOfSlots, []string{"lock: acquire granted", "lock: extend without a slot", "resize"}},
		{"one queue of slots", 60, 120, (*pair).nextOfSlotQueue, []string{
			"lock: acquire granted", "lock: acquire held", "lock: acquire reserved", "leave",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outcomes := make(map[string]int)
			for seed := range c.seeds {
				p := newPair(t, client, uint64(seed))
				p.outcomes = outcomes
				p.count(startOf(seed), lockKey)
				for step := range c.steps {
					p.ask(fmt.Sprintf("seed %d, step %d", seed, step), c.next(p, seed, step))
				}
				p.close()
			}
			for _, outcome := range c.compared {
				if outcomes[outcome] < 3 {
					t.Errorf("%s: %d times: the sequences do not compare it", outcome, outcomes[outcome])
				}
			}
		})
	}
}

const lockKey = "lock:order:1001"

// startOf is ahead of both clocks, which differ; and now and then near the end.
func startOf(seed int) uint64 {
	if seed%4 == 0 {
		return 1<<53 - 4
	}
	return 7e15
}

// chance is true once in n times.
func (p *pair) chance(n int) bool { return p.r.IntN(n) == 0 }

// perhaps is a minute or nothing, once in n times.
func (p *pair) perhaps(n int) time.Duration {
	if p.chance(n) {
		return longTTL
	}
	return 0
}

func (p *pair) token() string { return pairTokens[p.r.IntN(len(pairTokens))] }

func (p *pair) waiter() string { return pairWaiters[p.r.IntN(len(pairWaiters))] }

func (p *pair) ticket() int64 { return int64(1 + p.r.IntN(9)) }

// rejoins is a holder that goes back into the queue with its release.
func (p *pair) rejoins(n int) (w driver.Waiter) {
	if p.chance(n) {
		w = driver.Waiter{ID: p.waiter(), Ticket: p.ticket()}
	}
	return w
}

func (p *pair) nextOfLock(int, int) any {
	token, w := p.token(), driver.Waiter{ID: p.waiter(), Enqueue: p.chance(2)}
	if w.Enqueue {
		if w.Ticket = p.ticket(); p.chance(2) {
			w.Record = fmt.Sprintf("host|%d||1||\n7 other", p.r.IntN(1000))
		}
	}
	switch p.r.IntN(11) {
	case 0, 1, 2, 3:
		return &driver.AcquireRequest{Key: lockKey, Token: token, Holder: "host|1|" + token[:1], TTL: longTTL,
			Floor: uint64(p.r.IntN(30)), Run: uint64(p.r.IntN(3)), Waiter: w, Fair: p.chance(3), Window: longTTL}
	case 4:
		return &driver.RaiseRequest{Key: lockKey, Token: token, Counter: p.counter, Fence: p.counter + uint64(p.r.IntN(5))}
	case 5:
		holder := []string{"host|2|", "host|2|||||||done|"}[p.r.IntN(2)] // after the second only that one extends
		return &driver.ExtendRequest{Key: lockKey, Token: token, TTL: longTTL, Refill: p.chance(2),
			Fence: uint64(1 + p.r.IntN(40)), Last: uint64(1 + p.r.IntN(80)), Holder: holder, Rename: p.chance(2)}
	case 6, 7, 8:
		return &driver.ReleaseRequest{Key: lockKey, Token: token, Tombstone: p.perhaps(12), Handoff: p.perhaps(2),
			Waiter: p.rejoins(4)}
	case 9:
		return &driver.PeekRequest{Key: lockKey}
	}
	return &driver.LeaveRequest{Key: lockKey, WaiterID: w.ID, Handoff: longTTL}
}

// nextOfReaders has tokens for more than the readers of a time, as tombstones use them up, and locks of the same name.
func (p *pair) nextOfReaders(seed, step int) any {
	token, mode, w := strings.Repeat(string('a'+rune(p.r.IntN(6))), 32), driver.Mode(1+p.r.IntN(2)), driver.Waiter{ID: p.waiter()}
	if p.chance(2) {
		w.Ticket, w.Enqueue = p.ticket(), !p.chance(3)
	}
	switch p.r.IntN(14) {
	case 0:
		return p.nextOfLock(seed, step)
	case 1, 2, 3, 4, 5:
		req := &driver.AcquireRequest{Key: lockKey, Token: token, Holder: "host|1|" + token[:1], TTL: longTTL,
			Floor: uint64(p.r.IntN(30)), Waiter: w, Fair: p.chance(3), Window: longTTL, Mode: mode}
		if mode == driver.Write {
			req.Bar = p.perhaps(3)
		}
		return req
	case 6:
		return &driver.RaiseRequest{Key: lockKey, Token: token, Counter: p.counter, Fence: p.counter + uint64(p.r.IntN(5)),
			Mode: driver.Read}
	case 7, 8:
		return &driver.ExtendRequest{Key: lockKey, Token: token, TTL: longTTL, Refill: p.chance(2),
			Fence: uint64(1 + p.r.IntN(40)), Last: uint64(1 + p.r.IntN(80)), Holder: "host|2|", Mode: driver.Read}
	case 9, 10, 11:
		return &driver.ReleaseRequest{Key: lockKey, Token: token, Mode: mode, Tombstone: p.perhaps(40), Handoff: p.perhaps(2),
			Waiter: p.rejoins(4)}
	}
	return &driver.LeaveRequest{Key: lockKey, WaiterID: w.ID, Handoff: longTTL, Mode: mode}
}

// young is a token of this step or of the few before, as marks of revoked ones stay.
func (p *pair) young(step, of int) string {
	return strings.Repeat(fmt.Sprintf("%x", (step/8+p.r.IntN(of))%16), driver.TokenLength)
}

func (p *pair) nextRevoke(_, step int) any {
	token := p.young(step, 2)
	switch p.r.IntN(7) {
	case 0, 1:
		return &driver.AcquireRequest{Key: lockKey, Token: token, Holder: "h|" + token[:1], TTL: longTTL, Floor: 1}
	case 2, 3:
		return &driver.ExtendRequest{Key: lockKey, Token: token, TTL: longTTL, Refill: p.chance(2), Fence: 1,
			Holder: "h|" + token[:1]}
	case 4:
		return &driver.ReleaseRequest{Key: lockKey, Token: token, Tombstone: p.perhaps(2)}
	case 5:
		return &driver.RevokeRequest{Key: lockKey}
	}
	return &driver.RevokeRequest{Key: lockKey, Grant: driver.GrantOf(token), Record: fmt.Sprintf("ops|%d|why", step),
		Keep: time.Hour}
}

// nextRevokeOfReaders marks one or two readers, present or not, beside writers of the same lock.
func (p *pair) nextRevokeOfReaders(_, step int) any {
	one, other, mode := p.young(step, 3), p.young(step, 3), driver.Mode(1+p.r.IntN(2))
	switch p.r.IntN(12) {
	case 0, 1, 2:
		return &driver.AcquireRequest{Key: lockKey, Token: one, Holder: "h|" + one[:1], TTL: longTTL, Floor: 1, Mode: mode,
			Waiter: driver.Waiter{ID: "w0"}}
	case 3, 4, 5:
		return &driver.ExtendRequest{Key: lockKey, Token: one, TTL: longTTL, Refill: p.chance(2), Fence: 1,
			Holder: "h|" + one[:1], Mode: driver.Read}
	case 6, 7, 8:
		return &driver.ReleaseRequest{Key: lockKey, Token: one, Mode: mode}
	case 9:
		return &driver.RevokeRequest{Key: lockKey}
	}
	req := &driver.RevokeRequest{Key: lockKey, Record: fmt.Sprintf("ops|%d|why", step), Keep: time.Hour,
		Readers: []string{driver.GrantOf(one)}}
	if one != other {
		req.Readers = append(req.Readers, driver.GrantOf(other))
	}
	return req
}

// nextOfSlots is about a semaphore that is new to both at first.
func (p *pair) nextOfSlots(_, step int) any {
	of := &driver.Semaphore{Key: fmt.Sprint("pool", step/8), Slot: p.r.IntN(3), Slots: 1 + p.r.IntN(3), Keep: time.Hour}
	switch token := p.token(); p.r.IntN(6) {
	case 0, 1:
		return &driver.AcquireRequest{Key: lockKey, Token: token, TTL: longTTL, Semaphore: of}
	case 2, 3:
		return &driver.ExtendRequest{Key: lockKey, Token: token, TTL: longTTL, Refill: p.chance(2), Fence: 1, Semaphore: of}
	case 4:
		return &driver.ReleaseRequest{Key: lockKey, Token: token}
	}
	return &driver.ResizeRequest{Key: of.Key, From: 1 + p.r.IntN(3), To: p.r.IntN(4), Keep: time.Hour}
}

// nextOfSlotQueue is about one of three slots, or about their queue.
func (p *pair) nextOfSlotQueue(_, step int) any {
	of := &driver.Semaphore{Key: "pool", Slot: p.r.IntN(3), Slots: 3, Keep: time.Hour, OneQueue: true, Any: !p.chance(3)}
	key, w := of.SlotKey(of.Slot), driver.Waiter{ID: p.waiter(), Enqueue: !p.chance(4)}
	if step == 0 {
		p.count(7e15, of.SlotKey(0), of.SlotKey(1), of.SlotKey(2))
	}
	if w.Enqueue {
		w.Ticket = p.ticket()
	}
	switch token := fmt.Sprintf("%032x", 1+p.r.IntN(6)); p.r.IntN(8) {
	case 0, 1, 2, 3:
		return &driver.AcquireRequest{Key: key, Token: token, Holder: "host|1|" + token[31:], TTL: longTTL, Floor: 1,
			Waiter: w, Fair: p.chance(4), Window: longTTL, Semaphore: of}
	case 4, 5, 6:
		return &driver.ReleaseRequest{Key: key, Token: token, Semaphore: of, Handoff: longTTL - p.perhaps(3),
			Waiter: p.rejoins(3)}
	}
	return &driver.LeaveRequest{Key: key, WaiterID: w.ID, Handoff: longTTL, Semaphore: of}
}

// TestFakeKeepsFloorsLikeScripts: a client's clock moves a counter only within ten seconds of the node's clock.
func TestFakeKeepsFloorsLikeScripts(t *testing.T) {
	p := alone(t)
	for name, c := range map[string]struct{ clock, low, high time.Duration }{
		"right":         {0, -time.Second, time.Second},
		"an hour late":  {-time.Hour, -12 * time.Second, -9 * time.Second},
		"an hour ahead": {time.Hour, 9 * time.Second, 11 * time.Second},
	} {
		p.count(0, lockKey)
		now := time.Now()
		for where, r := range p.granted(&driver.AcquireRequest{
			Key: lockKey, Token: pairTokens[0], TTL: longTTL, Floor: uint64(now.Add(c.clock).UnixMicro()),
		}) {
			off := time.UnixMicro(int64(r.Counter)).Sub(now)
			if !r.Granted || off < c.low || off > c.high+time.Since(now) {
				t.Errorf("%s, %s: %+v, %v off the clock, want between %v and %v", name, where, r, off, c.low, c.high)
			}
		}
	}
}

// TestFakeReservesRunsLikeScripts: a run moves the counter by the length asked for, unless that is more than a second
// ahead of the clock.
func TestFakeReservesRunsLikeScripts(t *testing.T) {
	p := alone(t)
	const run = 100_000_000 // as much as the clock counts in 100 seconds
	first := uint64(time.Now().UnixMicro())
	for i, want := range [][2]uint64{{first, run}, {first + run, 1}, {first + run + 1, 1}} {
		for where, r := range p.granted(&driver.AcquireRequest{
			Key: lockKey, Token: pairTokens[i], TTL: longTTL, Floor: first, Run: run,
		}) {
			if !r.Granted || r.Counter != want[0] || r.Run != want[1] {
				t.Errorf("grant %d, %s: %+v, want %v", i, where, r, want)
			}
		}
	}
}

func alone(t *testing.T) *pair {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	p := newPair(t, client, 1)
	t.Cleanup(func() {
		p.close()
		_ = client.Close()
	})
	return p
}

// granted acquires the lock on both, and releases it again.
func (p *pair) granted(req *driver.AcquireRequest) map[string]driver.AcquireReply {
	call, got := driver.Call{Context: p.t.Context(), Deadline: time.Now().Add(time.Minute)}, make(map[string]driver.AcquireReply)
	for where, n := range map[string]driver.Node{"redis": p.real, "fake": p.fake} {
		r, err := answered(func(to driver.Answer[driver.AcquireReply]) { n.Acquire(call, req, to) })
		p.must(err)
		got[where] = r
		p.answer(n, &driver.ReleaseRequest{Key: lockKey, Token: req.Token})
	}
	return got
}
