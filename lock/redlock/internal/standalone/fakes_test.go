package standalone

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/lock/redlock/internal/lanes"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// longTTL is that of everything in a sequence: nothing in it ends by itself.
const longTTL = time.Minute

// pair is a node of a real server and one of a fake server that get the same requests.
type pair struct {
	t        *testing.T
	r        *rand.Rand
	client   *redis.Client
	server   *locktest.FakeServer
	real     driver.Node
	fake     driver.Node
	heard    []func() error // ends the subscriptions
	counter  uint64         // of the last grant
	outcomes map[string]int
	history  []string
}

var (
	pairTokens  = []string{strings.Repeat("a", 32), strings.Repeat("b", 32), strings.Repeat("c", 32)}
	pairWaiters = []string{"w0", "w1", "w2", "w3"}
)

// newPair returns the two, empty. Some of the waiters listen for their turn.
func newPair(t *testing.T, client *redis.Client, seed uint64) *pair {
	p := &pair{
		t: t, r: rand.New(rand.NewPCG(seed, 3)), client: client, server: locktest.NewFakeServer("fake"),
		outcomes: make(map[string]int),
	}
	p.must(client.FlushAll(t.Context()).Err())
	began := time.Now()
	g := guard.New(guard.Config{
		Node: "real", Servers: guard.NewServers(), Clock: func() time.Duration { return time.Since(began) }, Off: true,
	})
	p.real = New(client, g, scripts.New(), lanes.Config{Clock: g.Clock, Timeout: time.Minute})
	p.fake = engine.Async(p.server.Connect(1, locktest.Faults{}))
	for _, w := range pairWaiters[:2+seed%3] {
		ps := client.Subscribe(t.Context(), scripts.WakeChannel(w))
		_, err := ps.Receive(t.Context())
		p.must(err)
		link := p.server.Connect(2, locktest.Faults{})
		p.must(link.Subscribe(t.Context(), w, func(string) {}))
		p.heard = append(p.heard, ps.Close, link.Close)
	}
	return p
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) close() {
	for _, end := range p.heard {
		p.must(end())
	}
	p.must(errors.Join(p.real.Close(), p.fake.Close()))
	p.server.Close()
}

// count sets the fence counter of these locks.
func (p *pair) count(from uint64, keys ...string) {
	for _, key := range keys {
		p.server.SetCounter(key, from)
		p.must(p.client.Set(p.t.Context(), fenceKey(key), from, 0).Err())
	}
}

// fenceKey is that of the smallest number which hashes to the lock's slot.
func fenceKey(lock string) string {
	for n := 0; ; n++ {
		if tag := strconv.Itoa(n); hashslot.Of(tag) == hashslot.Of(lock) {
			return "lockscope:fence:{" + tag + "}"
		}
	}
}

// ask gives both the request and compares what they answer, and what is left of queues and reservations.
func (p *pair) ask(step string, req any) {
	p.t.Helper()
	real, fake := p.answer(p.real, req), p.answer(p.fake, req)
	p.outcomes[real[0]]++
	left := p.onFake(req)
	if onReal := p.onReal(req); !slices.Equal(real, fake) || onReal != left {
		p.t.Fatalf("%s: %s\nredis: %s, %s\nfake:  %s, %s\nafter:\n%s", step, describe(req), real, onReal, fake, left,
			strings.Join(p.history, "\n"))
	}
	p.history = append(p.history, fmt.Sprint(describe(req), ": ", real, ", ", left))
}

// onReal counts waiters and reservations, and has the record of the request's waiter.
func (p *pair) onReal(req any) string {
	ctx, waiting := p.t.Context(), int64(0)
	for _, queue := range p.client.Keys(ctx, scripts.QueueKey("*")).Val() {
		waiting += p.client.ZCard(ctx, queue).Val()
	}
	queue, waiter := queueOf(req)
	return fmt.Sprintf("%d wait, %d kept, %q", waiting, len(p.client.Keys(ctx, "lockscope:next:*").Val()),
		p.client.Get(ctx, scripts.EntryKey(queue, waiter)).Val())
}

func (p *pair) onFake(req any) string {
	queue, waiter := queueOf(req)
	return fmt.Sprintf("%d wait, %d kept, %q", p.server.QueueLength(), p.server.Reservations(), p.server.Entry(queue, waiter))
}

func queueOf(req any) (lockKey, waiter string) {
	switch req := req.(type) {
	case *driver.AcquireRequest:
		if of := req.Semaphore; of != nil && of.OneQueue {
			return of.QueueKey(), req.Waiter.ID
		}
		return req.Key, req.Waiter.ID
	case *driver.LeaveRequest:
		return req.Key, req.WaiterID
	}
	return "", ""
}

// reply is an answer to a call.
type reply[T any] struct {
	val T
	err error
}

type replies[T any] chan reply[T]

func (r replies[T]) Answer(val T, err error) { r <- reply[T]{val, err} }

func answered[T any](send func(driver.Answer[T])) (T, error) {
	r := make(replies[T], 1)
	send(r)
	got := <-r
	return got.val, got.err
}

// answer is what a node says: in a word, and all of it.
func (p *pair) answer(n driver.Node, req any) []string {
	call := driver.Call{Context: p.t.Context(), Deadline: time.Now().Add(time.Minute)}
	word, says, err := "", any(nil), error(nil)
	switch req := req.(type) {
	case *driver.AcquireRequest:
		var r driver.AcquireReply
		r, err = answered(func(to driver.Answer[driver.AcquireReply]) { n.Acquire(call, req, to) })
		word, says = p.voted(req, r)
	case *driver.RaiseRequest:
		var raised bool
		raised, err = answered(func(to driver.Answer[bool]) { n.Raise(call, req, to) })
		word = fmt.Sprintf("%s raise %v", modes[req.Mode], raised)
	case *driver.ExtendRequest:
		var r driver.ExtendReply
		r, err = answered(func(to driver.Answer[driver.ExtendReply]) { n.Extend(call, req, to) })
		word = modes[req.Mode] + " extend " + [...]string{"gone", "done", "refilled", "taken", "without a slot"}[r]
	case *driver.ReleaseRequest:
		var r driver.ReleaseReply
		r, err = answered(func(to driver.Answer[driver.ReleaseReply]) { n.Release(call, req, to) })
		word, says = modes[req.Mode]+" release "+[...]string{"of nothing", "of its own", "of another's"}[r.Found], r.Named
	case *driver.LeaveRequest:
		_, err = answered(func(to driver.Answer[bool]) { n.Leave(call, req, to) })
		word = "leave"
	case *driver.PeekRequest:
		var r driver.PeekReply
		r, err = answered(func(to driver.Answer[driver.PeekReply]) { n.Peek(call, req, to) })
		word, says = fmt.Sprint("peek ", r.Held), []any{long(r.TTL), r.Counter, r.Holder}
	case *driver.RevokeRequest:
		var r driver.RevokeReply
		r, err = answered(func(to driver.Answer[driver.RevokeReply]) { n.Revoke(call, req, to) })
		word, says = fmt.Sprint("revoke ", r.Held), revoked(r)
	case *driver.ResizeRequest:
		var r driver.ResizeReply
		r, err = answered(func(to driver.Answer[driver.ResizeReply]) { n.Resize(call, req, to) })
		word, says = "resize", r
	}
	if err != nil {
		word, says = failure(word, err)
	}
	return []string{word, fmt.Sprint(says)}
}

var modes = [...]string{"lock:", "reader:", "writer:"}

// long reports whether nearly all of a TTL is left: its milliseconds differ between two servers.
func long(left time.Duration) bool { return left > longTTL-10*time.Second }

func (p *pair) voted(req *driver.AcquireRequest, r driver.AcquireReply) (word string, says any) {
	word = "held"
	switch {
	case r.Granted:
		word, p.counter = "granted", r.Counter
	case r.Reserved:
		word = "reserved"
	}
	return fmt.Sprintf("%s acquire %s", modes[req.Mode], word),
		[]any{r.Counter, r.Run, long(r.TTL), r.Holder, r.Ticket, r.Ahead, r.Slots, r.Free}
}

func revoked(r driver.RevokeReply) any {
	var readers []string
	for _, one := range r.Readers {
		readers = append(readers, fmt.Sprint(one.Held, one.Grant, long(one.TTL), one.Counter, one.Holder, one.Record))
	}
	slices.Sort(readers)
	return []any{r.ByReaders, r.Grant, r.Counter, long(r.TTL), r.Holder, r.Record, readers}
}

// failure is what two nodes have in common that fail: op is the word for what the answer would be.
func failure(op string, err error) (word string, says any) {
	op = strings.Join(strings.Fields(op)[:2], " ")
	if mark, ok := errors.AsType[*driver.RevokedError](err); ok {
		return op + " of a revoked one", mark.Record
	}
	for _, known := range []error{driver.ErrFenceCounter, driver.ErrTombstone} {
		if errors.Is(err, known) {
			return op + ": " + known.Error(), nil
		}
	}
	return op + ": " + err.Error(), nil
}

func describe(req any) string { return fmt.Sprintf("%T %+v", req, req) }
