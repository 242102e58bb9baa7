package locktest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesReadWriteScripts is TestFakeMatchesScripts for readers and writers, with locks of the same name among
// them.
func TestFakeMatchesReadWriteScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	outcomes := make(map[string]int)
	for seed := range uint64(60) {
		pair := sharedPair{newPair(t, client, seed), outcomes}
		for _, name := range []string{"acquire", "raise", "extend", "release", "leave"} {
			pair.scripts["rw"+name] = readScript(t, "marker", "handoff", "rwshared", "rw"+name)
		}
		for step := range 150 {
			real, fake, what := pair.sharedStep()
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s",
					seed, step, what, real, fake, strings.Join(pair.history, "\n"))
			}
			pair.history = append(pair.history, what+": "+real)
		}
		pair.close()
	}
	for _, outcome := range []string{
		"r granted", "w granted", "r held", "w held", "r kept or barred", "w kept or barred", "r tombstone", "raised",
		"extended", "refilled", "extend of another's", "r released", "w released",
		"r released, next named", "w released, next named",
	} {
		if outcomes[outcome] < 3 {
			t.Errorf("%s: %d times: the sequences do not compare it", outcome, outcomes[outcome])
		}
	}
}

type sharedPair struct {
	*pair
	outcomes map[string]int // how often each came about
}

// note counts an outcome.
func (p sharedPair) note(format string, args ...any) { p.outcomes[fmt.Sprintf(format, args...)]++ }

// sharedTokens are more than readers at a time, since tombstones use them up.
var sharedTokens = append(slices.Clone(pairTokens), strings.Repeat("d", 32), strings.Repeat("e", 32),
	strings.Repeat("f", 32))

func (p sharedPair) bars() string { return p.keys.lock + ":bars" }

func (p sharedPair) index() string { return p.keys.lock + ":readers" }

// sharedStep sends both the same request and returns their answers.
func (p sharedPair) sharedStep() (real, fake, what string) {
	token := sharedTokens[p.r.IntN(len(sharedTokens))]
	mode := driver.Mode(1 + p.r.IntN(2))
	w := driver.Waiter{ID: pairWaiters[p.r.IntN(len(pairWaiters))]}
	if p.r.IntN(2) == 0 {
		w.Ticket = int64(1 + p.r.IntN(9))
		w.Enqueue = p.r.IntN(3) > 0
	}
	switch p.r.IntN(14) {
	case 0:
		return p.step()
	case 1, 2, 3, 4, 5:
		req := driver.AcquireRequest{
			Key: p.keys.lock, Token: token, Holder: "host|1|" + token[:1], TTL: time.Minute, Floor: uint64(p.r.IntN(30)),
			Waiter: w, Fair: p.r.IntN(3) == 0, Window: time.Minute, Mode: mode,
		}
		if mode == driver.Write && p.r.IntN(3) == 0 {
			req.Bar = time.Minute
		}
		return p.acquireShared(req)
	case 6:
		return p.raiseReader(driver.RaiseRequest{Key: p.keys.lock, Token: token, Counter: p.counter,
			Fence: p.counter + uint64(p.r.IntN(5)), Mode: driver.Read})
	case 7, 8:
		return p.extendReader(driver.ExtendRequest{Key: p.keys.lock, Token: token, TTL: time.Minute,
			Refill: p.r.IntN(2) == 0, Fence: uint64(1 + p.r.IntN(40)), Last: uint64(1 + p.r.IntN(80)), Holder: "host|2|",
			Mode: driver.Read})
	case 9, 10, 11:
		req := driver.ReleaseRequest{Key: p.keys.lock, Token: token, Mode: mode}
		if p.r.IntN(40) == 0 {
			req.Tombstone = time.Minute
		}
		if p.r.IntN(2) == 0 {
			req.Handoff = time.Minute
		}
		if p.r.IntN(4) == 0 {
			req.Waiter = driver.Waiter{ID: w.ID, Ticket: int64(1 + p.r.IntN(9))}
		}
		return p.releaseShared(req)
	}
	return p.leaveShared(driver.LeaveRequest{Key: p.keys.lock, WaiterID: w.ID, Handoff: time.Minute, Mode: mode})
}

func modeFlag(m driver.Mode) string {
	return map[driver.Mode]string{driver.Read: "r", driver.Write: "w"}[m]
}

func (p sharedPair) acquireShared(req driver.AcquireRequest) (real, fake, what string) {
	flag, window := map[bool]int{true: 1}, int64(0)
	if req.Fair {
		window = req.Window.Milliseconds()
	}
	keys := []string{p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token), p.keys.next, p.keys.queue, p.bars(),
		p.keys.entry(req.Waiter.ID), p.index()}
	reply := p.eval("rwacquire", keys, req.Token, req.Holder, req.TTL.Milliseconds(), req.Floor, modeFlag(req.Mode),
		req.Waiter.ID, req.Waiter.Ticket, flag[req.Waiter.Enqueue], window, "1", req.Bar.Milliseconds(), req.Waiter.Record,
		"")
	if counter, granted := reply.(int64); granted {
		reply = []any{1, counter}
	}
	fields := reply.([]any)
	if len(fields) == 5 {
		fields[1] = fields[1].(int64) > 50_000 // the TTL is about a minute
	}
	got, err := p.node.Acquire(p.ctx(), req)
	switch {
	case errors.Is(err, driver.ErrFenceCounter):
		fake = fmt.Sprint([]any{4})
	case err != nil:
		p.note("%s tombstone", modeFlag(req.Mode))
		fake = fmt.Sprint([]any{3})
	case got.Granted:
		p.note("%s granted", modeFlag(req.Mode))
		fake, p.counter = fmt.Sprint([]any{1, got.Counter}), got.Counter
	default:
		p.note("%s %s", modeFlag(req.Mode), map[bool]string{true: "kept or barred", false: "held"}[got.Reserved])
		fake = fmt.Sprint([]any{2 * flag[got.Reserved], got.TTL > 50*time.Second, got.Holder, got.Ticket, got.Ahead})
	}
	return fmt.Sprint(reply), fake, fmt.Sprintf("acquire %s %.1s %+v fair %v bar %v", modeFlag(req.Mode), req.Token,
		req.Waiter, req.Fair, req.Bar)
}

func (p sharedPair) raiseReader(req driver.RaiseRequest) (real, fake, what string) {
	reply := p.eval("rwraise", []string{p.keys.lock, p.keys.fence}, req.Token, req.Counter, req.Fence)
	raised, _ := p.node.Raise(p.ctx(), req)
	if raised {
		p.note("raised")
	}
	return fmt.Sprint(reply.(int64) == 1), fmt.Sprint(raised), fmt.Sprintf("raise %.1s:%d to %d", req.Token, req.Counter,
		req.Fence)
}

func (p sharedPair) extendReader(req driver.ExtendRequest) (real, fake, what string) {
	keys := []string{p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token), p.keys.next, p.bars(), p.index()}
	reply := p.eval("rwextend", keys, req.Token, req.TTL.Milliseconds(), map[bool]int{true: 1}[req.Refill], req.Fence,
		max(req.Fence, req.Last), req.Holder, "", "")
	codes := map[int64]driver.ExtendReply{-1: driver.ExtendTaken, 0: driver.ExtendGone, 1: driver.ExtendDone,
		2: driver.ExtendRefilled}
	got, err := p.node.Extend(p.ctx(), req)
	what = fmt.Sprintf("extend %.1s refill %v fence %d to %d", req.Token, req.Refill, req.Fence, req.Last)
	if real, fake = extendRevoked(reply, err); real != "" || fake != "" {
		p.note("extend of a revoked reader")
		return real, fake, what
	}
	p.note("%s", map[driver.ExtendReply]string{driver.ExtendTaken: "extend of another's", driver.ExtendDone: "extended",
		driver.ExtendRefilled: "refilled"}[got])
	return fmt.Sprint(codes[reply.(int64)]), fmt.Sprint(got), what
}

func (p sharedPair) releaseShared(req driver.ReleaseRequest) (real, fake, what string) {
	keys := []string{p.keys.lock, p.keys.tombstone(req.Token), p.keys.next, p.keys.queue, p.bars(),
		p.keys.entry(req.Waiter.ID), p.index()}
	reply := p.eval("rwrelease", keys, req.Token, modeFlag(req.Mode), req.Tombstone.Milliseconds(),
		req.Handoff.Milliseconds(), "1", req.Waiter.ID, req.Waiter.Ticket, "").(int64)
	found := map[int64]driver.ReleaseFound{0: driver.FoundNothing, 1: driver.FoundOwn, 2: driver.FoundOther}
	got, _ := p.node.Release(p.ctx(), req)
	if got.Found == driver.FoundOwn {
		p.note("%s released%s", modeFlag(req.Mode), map[bool]string{true: ", next named"}[got.Named])
	}
	return fmt.Sprint(found[reply%4], reply >= 4), fmt.Sprint(got.Found, got.Named), fmt.Sprintf(
		"release %s %.1s tombstone %v hand-off %v %+v", modeFlag(req.Mode), req.Token, req.Tombstone, req.Handoff, req.Waiter)
}

func (p sharedPair) leaveShared(req driver.LeaveRequest) (real, fake, what string) {
	p.eval("rwleave", []string{p.keys.lock, p.keys.next, p.keys.queue, p.bars(), p.keys.entry(req.WaiterID), p.index()},
		req.WaiterID, req.Handoff.Milliseconds(), "1")
	_ = p.node.Leave(p.ctx(), req)
	real = fmt.Sprint(p.redis.ZCard(p.ctx(), p.keys.queue).Val(), p.redis.Exists(p.ctx(), p.keys.next).Val())
	return real, fmt.Sprint(p.fake.QueueLength(), p.fake.Reservations()), "leave " + req.WaiterID
}
