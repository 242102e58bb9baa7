package locktest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesSlotQueueScripts is TestFakeMatchesScripts for the one queue of a semaphore of three slots.
func TestFakeMatchesSlotQueueScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	for seed := range uint64(60) {
		pair := newPair(t, client, seed)
		pair.scripts["acquire"] = readScript(t, "marker", "slots", "acquire", "handoff", "offer", "refuse")
		pair.scripts["leave"] = readScript(t, "handoff", "leaveslots")
		for step := range 120 {
			real, fake, what := pair.queueStep(fmt.Sprint("pool", seed))
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s",
					seed, step, what, real, fake, strings.Join(pair.history, "\n"))
			}
			pair.history = append(pair.history, what+": "+real)
		}
		pair.close()
	}
}

// queueStep sends both the same request about a slot, or about the queue.
func (p *pair) queueStep(semaphore string) (real, fake, what string) {
	of := &driver.Semaphore{
		Key: semaphore, Slot: p.r.IntN(3), Slots: 3, Keep: time.Hour, OneQueue: true, Any: p.r.IntN(3) > 0,
	}
	p.keys.lock, p.keys.queue = of.SlotKey(of.Slot), semaphore+":queue"
	p.keys.next, p.keys.fence = "lockscope:next:{"+p.keys.lock+"}", p.keys.lock+":fence"
	token := fmt.Sprintf("%032x", 1+p.r.IntN(6))
	w := driver.Waiter{ID: pairWaiters[p.r.IntN(len(pairWaiters))]}
	if w.Enqueue = p.r.IntN(4) > 0; w.Enqueue {
		w.Ticket = int64(1 + p.r.IntN(9))
	}
	switch p.r.IntN(8) {
	case 0, 1, 2, 3:
		return p.acquireQueued(driver.AcquireRequest{
			Key: p.keys.lock, Token: token, Holder: "host|1|" + token[31:], TTL: time.Minute, Floor: 1,
			Waiter: w, Fair: p.r.IntN(4) == 0, Window: time.Minute, Semaphore: of,
		})
	case 4, 5, 6:
		req := driver.ReleaseRequest{Key: p.keys.lock, Token: token, Semaphore: of}
		if p.r.IntN(3) > 0 {
			req.Handoff = time.Minute
		}
		if p.r.IntN(3) == 0 {
			req.Waiter = driver.Waiter{ID: w.ID, Ticket: int64(1 + p.r.IntN(9))}
		}
		return p.release(req)
	}
	return p.leaveQueue(driver.LeaveRequest{Key: p.keys.lock, WaiterID: w.ID, Handoff: time.Minute, Semaphore: of})
}

func (p *pair) acquireQueued(req driver.AcquireRequest) (real, fake, what string) {
	of, takes := req.Semaphore, ""
	if of.Any {
		takes = of.Key
	}
	args := []any{of.Slots, of.Keep.Milliseconds(), takes, req.Window.Milliseconds(), req.Token, req.Holder,
		req.TTL.Milliseconds(), req.Floor, 1}
	if w := req.Waiter; w.Enqueue || req.Fair {
		ticket, window := "", int64(0)
		if w.Enqueue {
			ticket = fmt.Sprint(w.Ticket)
		}
		if req.Fair {
			window = req.Window.Milliseconds()
		}
		args = append(args, w.ID, ticket, window, "1")
	}
	reply := p.eval("acquire", []string{of.Key + ":slots", p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token),
		p.keys.next, p.keys.queue, "marker"}, append(args, "")...)
	got, err := p.node.Acquire(p.ctx(), req)
	switch {
	case errors.Is(err, driver.ErrFenceCounter):
		fake = fmt.Sprint([]any{4})
	case err != nil:
		fake = err.Error()
	case got.Granted:
		p.counter, fake = got.Counter, "granted"
	default:
		all := []any{0, got.Holder, got.Ticket, got.Ahead}
		if got.Reserved {
			all[0] = 2
		}
		if of.Any {
			all = append(all, got.Free)
		}
		fake = fmt.Sprint(all)
	}
	if _, granted := reply.(int64); granted {
		reply = "granted"
	} else if fields := reply.([]any); len(fields) > 1 {
		reply = append(fields[:1:1], fields[2:]...) // without the TTL
	}
	return fmt.Sprintf("%v, %d kept", reply, p.reserved(of)), fmt.Sprintf("%v, %d kept", fake, p.fake.Reservations()),
		fmt.Sprintf("acquire slot %d %s %+v any %v fair %v", of.Slot, req.Token[31:], req.Waiter, of.Any, req.Fair)
}

func (p *pair) leaveQueue(req driver.LeaveRequest) (real, fake, what string) {
	of := req.Semaphore
	p.eval("leave", []string{p.keys.queue, of.Key + ":waiter"}, req.WaiterID, req.Handoff.Milliseconds(), "1", of.Key,
		of.Slots)
	_ = p.node.Leave(p.ctx(), req)
	return fmt.Sprint(p.redis.ZCard(p.ctx(), p.keys.queue).Val(), p.reserved(of)),
		fmt.Sprint(p.fake.QueueLength(), p.fake.Reservations()), "leave " + req.WaiterID
}

// reserved is how many slots the real server keeps for waiters.
func (p *pair) reserved(of *driver.Semaphore) (n int) {
	for slot := range of.Slots {
		n += int(p.redis.Exists(p.ctx(), "lockscope:next:{"+of.SlotKey(slot)+"}").Val())
	}
	return n
}
