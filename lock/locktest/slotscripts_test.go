package locktest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesSlotScripts is TestFakeMatchesScripts for a lock that is a slot of a semaphore.
func TestFakeMatchesSlotScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	for seed := range uint64(40) {
		pair := newPair(t, client, seed)
		pair.scripts["acquire"] = readScript(t, "marker", "slots", "acquire", "handoff", "offer", "refuse")
		pair.scripts["extend"] = readScript(t, "marker", "slot", "extend")
		pair.scripts["resize"] = readScript(t, "marker", "resize")
		for step := range 60 {
			real, fake, what := pair.slotStep(fmt.Sprint("pool", step/8))
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s",
					seed, step, what, real, fake, strings.Join(pair.history, "\n"))
			}
			pair.history = append(pair.history, what+": "+real)
		}
		pair.close()
	}
}

// slotStep sends both the same request about a slot. Each semaphore is new to them at first.
func (p *pair) slotStep(semaphore string) (real, fake, what string) {
	token := pairTokens[p.r.IntN(len(pairTokens))]
	of := &driver.Semaphore{Key: semaphore, Slot: p.r.IntN(3), Slots: 1 + p.r.IntN(3), Keep: time.Hour}
	switch p.r.IntN(6) {
	case 0, 1:
		return p.acquireSlot(driver.AcquireRequest{Key: p.keys.lock, Token: token, TTL: time.Minute, Semaphore: of})
	case 2, 3:
		return p.extendSlot(driver.ExtendRequest{
			Key: p.keys.lock, Token: token, TTL: time.Minute, Refill: p.r.IntN(2) == 0, Fence: 1, Semaphore: of,
		})
	case 4:
		return p.release(driver.ReleaseRequest{Key: p.keys.lock, Token: token})
	}
	return p.resize(driver.ResizeRequest{Key: of.Key, From: 1 + p.r.IntN(3), To: p.r.IntN(4), Keep: time.Hour})
}

func (p *pair) acquireSlot(req driver.AcquireRequest) (real, fake, what string) {
	of := req.Semaphore
	reply := p.eval("acquire", []string{of.Key + ":slots", p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token), p.keys.next,
		p.keys.queue, "marker"}, of.Slots, of.Keep.Milliseconds(), "", 0, req.Token, req.Holder, req.TTL.Milliseconds(), 1, 1, "")
	if fields, refused := reply.([]any); refused && len(fields) == 5 {
		fields[1] = "" // the TTL
	}
	got, err := p.node.Acquire(p.ctx(), req)
	switch {
	case err != nil:
		fake = fmt.Sprint([]any{4})
	case !got.Granted && got.Slots != of.Slots:
		fake = fmt.Sprint([]any{6, got.Slots})
	case got.Granted:
		fake = fmt.Sprint(got.Counter)
	default:
		fake = fmt.Sprint([]any{0, "", got.Holder, got.Ticket, got.Ahead})
	}
	return fmt.Sprint(reply), fake, fmt.Sprintf("acquire %.1s of %d slots", req.Token, of.Slots)
}

func (p *pair) extendSlot(req driver.ExtendRequest) (real, fake, what string) {
	of, refill := req.Semaphore, 0
	if req.Refill {
		refill = 1
	}
	reply := p.eval("extend", []string{of.Key + ":slots", p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token),
		"marker"}, of.Slot, of.Slots, of.Keep.Milliseconds(), req.Token, req.TTL.Milliseconds(), refill, req.Fence, req.Fence,
		req.Holder, 0, "", "")
	if fields, refused := reply.([]any); refused {
		reply = fields[0]
	}
	codes := map[int64]driver.ExtendReply{-1: driver.ExtendTaken, 0: driver.ExtendGone, 1: driver.ExtendDone,
		2: driver.ExtendRefilled, 6: driver.ExtendNoSlot}
	got, _ := p.node.Extend(p.ctx(), req)
	return fmt.Sprint(codes[reply.(int64)]), fmt.Sprint(got),
		fmt.Sprintf("extend %.1s slot %d of %d, refill %v", req.Token, of.Slot, of.Slots, req.Refill)
}

func (p *pair) resize(req driver.ResizeRequest) (real, fake, what string) {
	reply := p.eval("resize", []string{req.Key + ":slots", "nobody", "marker"}, req.From, req.To, req.Keep.Milliseconds(), "", "")
	got, err := p.node.Resize(p.ctx(), req)
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprint(reply), fmt.Sprint(got), fmt.Sprintf("resize from %d to %d", req.From, req.To)
}
