package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesScripts runs random sequences of requests on a FakeServer and, as the Lua scripts of package redlock,
// on a real Redis, and compares every answer. The simulation is only as good as the fake is like the scripts.
func TestFakeMatchesScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	for seed := range uint64(60) {
		pair := newPair(t, client, seed)
		for step := range 120 {
			real, fake, what := pair.step()
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s",
					seed, step, what, real, fake, strings.Join(pair.history, "\n"))
			}
			pair.history = append(pair.history, what+": "+real)
		}
		pair.close()
	}
}

// pair is a fake and a real server that get the same requests.
type pair struct {
	t       *testing.T
	r       *rand.Rand
	keys    pairKeys
	redis   *redis.Client
	fake    *locktest.FakeServer
	node    *locktest.FakeNode
	heard   []*locktest.FakeNode // subscriptions
	pubsubs []*redis.PubSub
	scripts map[string]string
	counter uint64 // of the last grant
	history []string
}

var (
	pairTokens  = []string{strings.Repeat("a", 32), strings.Repeat("b", 32), strings.Repeat("c", 32)}
	pairWaiters = []string{"w0", "w1", "w2", "w3"}
)

// scriptFiles lists the parts of each script, as package redlock/internal/scripts joins them.
var scriptFiles = map[string][]string{
	"acquire": {"marker", "acquire", "handoff", "refuse"}, "raise": {"raise"}, "extend": {"marker", "extend"},
	"release": {"release", "handoff", "namenext"}, "leave": {"handoff", "leave"}, "peek": {"peek"},
}

func readScript(t *testing.T, files ...string) (source string) {
	t.Helper()
	for _, name := range files {
		part, err := os.ReadFile("../redlock/internal/scripts/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		source += string(part)
	}
	return source
}

// pairKeys are the names that package redlock derives from the lock's key.
type pairKeys struct{ lock, fence, next, queue string }

func (k pairKeys) tombstone(token string) string { return k.lock + ":tomb:" + token }
func (k pairKeys) entry(waiter string) string    { return k.lock + ":waiter:" + waiter }

func newPair(t *testing.T, client *redis.Client, seed uint64) *pair {
	p := &pair{
		t: t, r: rand.New(rand.NewPCG(seed, 3)), redis: client,
		fake: locktest.NewFakeServer("fake"), scripts: make(map[string]string),
		keys: pairKeys{
			lock: fmt.Sprintf("lock:%d", seed), fence: fmt.Sprintf("fence:%d", seed),
			next: fmt.Sprintf("next:%d", seed), queue: fmt.Sprintf("queue:%d", seed),
		},
	}
	p.node = p.fake.Connect(1, locktest.Faults{})
	// Ahead of both clocks, which differ; and now and then near the end.
	start := uint64(7e15)
	if seed%4 == 0 {
		start = 1<<53 - 12
	}
	p.fake.SetCounter(p.keys.lock, start)
	if err := client.Set(p.ctx(), p.keys.fence, start, 0).Err(); err != nil {
		t.Fatal(err)
	}
	for name, files := range scriptFiles {
		p.scripts[name] = readScript(t, files...)
	}
	for _, w := range pairWaiters[:2+seed%3] { // the others do not listen for their turn
		ps := client.Subscribe(p.ctx(), "lockscope:wake:"+w)
		if _, err := ps.Receive(p.ctx()); err != nil {
			t.Fatal(err)
		}
		link := p.fake.Connect(2, locktest.Faults{})
		if err := link.Subscribe(p.ctx(), w, func(string) {}); err != nil {
			t.Fatal(err)
		}
		p.pubsubs, p.heard = append(p.pubsubs, ps), append(p.heard, link)
	}
	return p
}

func (p *pair) ctx() context.Context { return p.t.Context() }

func (p *pair) close() {
	for i := range p.heard {
		_ = p.pubsubs[i].Close()
		_ = p.heard[i].Close()
	}
	_ = p.node.Close()
	p.fake.Close()
	p.redis.FlushAll(p.ctx())
}

// step sends both the same request and returns their answers.
func (p *pair) step() (real, fake, what string) {
	token := pairTokens[p.r.IntN(len(pairTokens))]
	w := driver.Waiter{ID: pairWaiters[p.r.IntN(len(pairWaiters))]}
	if w.Enqueue = p.r.IntN(2) == 0; w.Enqueue {
		w.Ticket = int64(1 + p.r.IntN(9))
		if p.r.IntN(2) == 0 {
			w.Record = fmt.Sprintf("host|%d||1||\n7 other", p.r.IntN(1000))
		}
	}
	switch p.r.IntN(11) {
	case 0, 1, 2, 3:
		return p.acquire(driver.AcquireRequest{
			Key: p.keys.lock, Token: token, Holder: "host|1|" + token[:1], TTL: time.Minute,
			Floor: uint64(p.r.IntN(30)),
			Run:   uint64(p.r.IntN(3)), Waiter: w, Fair: p.r.IntN(3) == 0, Window: time.Minute,
		})
	case 4:
		return p.raise(driver.RaiseRequest{Key: p.keys.lock, Token: token, Counter: p.counter, Fence: p.counter +
			uint64(p.r.IntN(5))})
	case 5:
		return p.extend(driver.ExtendRequest{
			Key: p.keys.lock, Token: token, TTL: time.Minute, Refill: p.r.IntN(2) == 0, Fence: uint64(1 + p.r.IntN(40)),
			Last: uint64(1 + p.r.IntN(80)), Holder: "host|2|", Rename: p.r.IntN(2) == 0,
		})
	case 6, 7, 8:
		req := driver.ReleaseRequest{Key: p.keys.lock, Token: token}
		if p.r.IntN(3) == 0 {
			req.Tombstone = time.Minute
		}
		if p.r.IntN(2) == 0 {
			req.Handoff = time.Minute
		}
		if p.r.IntN(4) == 0 {
			req.Waiter = driver.Waiter{ID: w.ID, Ticket: int64(1 + p.r.IntN(9))}
		}
		return p.release(req)
	case 9:
		return p.peek(driver.PeekRequest{Key: p.keys.lock})
	}
	return p.leave(driver.LeaveRequest{Key: p.keys.lock, WaiterID: w.ID, Handoff: time.Minute})
}

// TestFakeKeepsFloorsLikeScripts: a client's clock moves a counter only within ten seconds of the node's clock.
func TestFakeKeepsFloorsLikeScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	p := newPair(t, client, 1)
	defer p.close()
	for name, c := range map[string]struct{ clock, low, high time.Duration }{
		"right":         {0, -time.Second, time.Second},
		"an hour late":  {-time.Hour, -12 * time.Second, -9 * time.Second},
		"an hour ahead": {time.Hour, 9 * time.Second, 11 * time.Second},
	} {
		p.redis.FlushAll(t.Context())
		p.fake.SetCounter(p.keys.lock, 0)
		now := time.Now()
		real, fake, _ := p.acquire(driver.AcquireRequest{
			Key: p.keys.lock, Token: pairTokens[0], TTL: time.Minute, Floor: uint64(now.Add(c.clock).UnixMicro()),
		})
		p.release(driver.ReleaseRequest{Key: p.keys.lock, Token: pairTokens[0]})
		for where, reply := range map[string]string{"redis": real, "fake": fake} {
			var code, counter int64
			if _, err := fmt.Sscanf(reply, "[%d %d 1]", &code, &counter); err != nil || code != 1 {
				t.Fatalf("%s, %s: %s", name, where, reply)
			}
			if off := time.UnixMicro(counter).Sub(now); off < c.low || off > c.high+time.Since(now) {
				t.Errorf("%s, %s: fence is %v off the clock, want between %v and %v", name, where, off, c.low, c.high)
			}
		}
	}
}

// TestFakeReservesRunsLikeScripts: a run moves the counter by the length asked for, unless that is more than a second
// ahead of the clock.
func TestFakeReservesRunsLikeScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	p := newPair(t, client, 1)
	defer p.close()
	p.redis.FlushAll(t.Context())
	p.fake.SetCounter(p.keys.lock, 0)
	const run = 100_000_000 // as much as the clock counts in 100 seconds
	first := uint64(time.Now().UnixMicro())
	for i, want := range []string{
		fmt.Sprint([]any{1, first, run}), fmt.Sprint([]any{1, first + run, 1}),
		fmt.Sprint([]any{1, first + run + 1, 1}),
	} {
		real, fake, _ := p.acquire(driver.AcquireRequest{Key: p.keys.lock, Token: pairTokens[i], TTL: time.Minute,
			Floor: first, Run: run})
		if real != want || fake != want {
			t.Errorf("grant %d: redis %s, fake %s, want %s", i, real, fake, want)
		}
		p.release(driver.ReleaseRequest{Key: p.keys.lock, Token: pairTokens[i]})
	}
}

// eval runs a script as package redlock does.
func (p *pair) eval(name string, keys []string, args ...any) any {
	p.t.Helper()
	reply, err := p.redis.Eval(p.ctx(), p.scripts[name], keys, args...).Result()
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return reply
}

func (p *pair) acquire(req driver.AcquireRequest) (real, fake, what string) {
	args := []any{req.Token, req.Holder, req.TTL.Milliseconds(), req.Floor, max(req.Run, 1)}
	if w := req.Waiter; w.Enqueue || w.Ticket > 0 || req.Fair {
		ticket, window := "", int64(0)
		if w.Enqueue {
			ticket = fmt.Sprint(w.Ticket)
		}
		if req.Fair {
			window = req.Window.Milliseconds()
		}
		args = append(args, w.ID, ticket, window, "1")
	}
	keys := []string{p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token), p.keys.next, p.keys.queue}
	if req.Waiter.Record != "" {
		args, keys = append(args, req.Waiter.Record), append(keys, p.keys.entry(req.Waiter.ID))
	}
	reply := p.eval("acquire", keys, append(args, "")...)
	says, _ := p.redis.Get(p.ctx(), p.keys.entry(req.Waiter.ID)).Result()
	if counter, granted := reply.(int64); granted {
		reply = []any{1, counter, 1}
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
		fake = fmt.Sprint([]any{3})
	case got.Granted:
		fake, p.counter = fmt.Sprint([]any{1, got.Counter, got.Run}), got.Counter
	default:
		code := 0
		if got.Reserved {
			code = 2
		}
		fake = fmt.Sprint([]any{code, got.TTL > 50*time.Second, got.Holder, got.Ticket, got.Ahead})
	}
	return fmt.Sprint(reply, says), fmt.Sprint(fake, p.fake.Entry(p.keys.lock, req.Waiter.ID)),
		fmt.Sprintf("acquire %.1s floor %d run %d %+v fair %v", req.Token, req.Floor, req.Run, req.Waiter, req.Fair)
}

func (p *pair) raise(req driver.RaiseRequest) (real, fake, what string) {
	reply := p.eval("raise", []string{p.keys.lock, p.keys.fence}, fmt.Sprintf("%s:%d", req.Token, req.Counter),
		req.Fence)
	raised, _ := p.node.Raise(p.ctx(), req)
	return fmt.Sprint(reply.(int64) == 1), fmt.Sprint(raised),
		fmt.Sprintf("raise %.1s:%d to %d", req.Token, req.Counter, req.Fence)
}

func (p *pair) extend(req driver.ExtendRequest) (real, fake, what string) {
	flag := map[bool]int{true: 1}
	keys := []string{p.keys.lock, p.keys.fence, p.keys.tombstone(req.Token)}
	reply := p.eval("extend", keys, req.Token, req.TTL.Milliseconds(), flag[req.Refill], req.Fence,
		max(req.Fence, req.Last), req.Holder, flag[req.Rename], "", "")
	codes := map[int64]driver.ExtendReply{-1: driver.ExtendTaken, 0: driver.ExtendGone, 1: driver.ExtendDone,
		2: driver.ExtendRefilled}
	got, err := p.node.Extend(p.ctx(), req)
	what = fmt.Sprintf("extend %.1s refill %v fence %d to %d rename %v", req.Token, req.Refill, req.Fence, req.Last, req.Rename)
	if real, fake = extendRevoked(reply, err); real != "" || fake != "" {
		return real, fake, what
	}
	return fmt.Sprint(codes[reply.(int64)]), fmt.Sprint(got), what
}

func (p *pair) release(req driver.ReleaseRequest) (real, fake, what string) {
	args := []any{req.Token, req.Tombstone.Milliseconds(), req.Handoff.Milliseconds(), "1"}
	if req.Waiter.ID != "" {
		args = append(args, req.Waiter.ID, req.Waiter.Ticket)
	}
	keys := []string{p.keys.lock, p.keys.tombstone(req.Token), p.keys.next, p.keys.queue}
	reply := p.eval("release", keys, args...).(int64)
	found := map[int64]driver.ReleaseFound{0: driver.FoundNothing, 1: driver.FoundOwn, 2: driver.FoundOther}
	got, _ := p.node.Release(p.ctx(), req)
	return fmt.Sprint(found[reply%4], reply >= 4), fmt.Sprint(got.Found, got.Named),
		fmt.Sprintf("release %.1s tombstone %v hand-off %v %+v", req.Token, req.Tombstone, req.Handoff, req.Waiter)
}

func (p *pair) leave(req driver.LeaveRequest) (real, fake, what string) {
	p.eval("leave", []string{p.keys.lock, p.keys.next, p.keys.queue, p.keys.entry(req.WaiterID)}, req.WaiterID,
		req.Handoff.Milliseconds(), "1")
	_ = p.node.Leave(p.ctx(), req)
	real = fmt.Sprint(p.redis.ZCard(p.ctx(), p.keys.queue).Val(), p.redis.Exists(p.ctx(), p.keys.next).Val(),
		p.redis.Get(p.ctx(), p.keys.entry(req.WaiterID)).Val())
	return real, fmt.Sprint(p.fake.QueueLength(), p.fake.Reservations(), p.fake.Entry(p.keys.lock, req.WaiterID)),
		"leave " + req.WaiterID
}

func (p *pair) peek(req driver.PeekRequest) (real, fake, what string) {
	reply := p.eval("peek", []string{p.keys.lock, "peek"}, "").([]any)
	if len(reply) == 4 {
		reply[1] = reply[1].(int64) > 50_000 // the TTL is about a minute
	}
	fields := []any{0}
	if got, _ := p.node.Peek(p.ctx(), req); got.Held {
		fields = []any{1, got.TTL > 50*time.Second, got.Counter, got.Holder}
	}
	return fmt.Sprint(reply), fmt.Sprint(fields), "peek"
}
