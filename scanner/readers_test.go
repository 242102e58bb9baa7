package scanner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

// readLocks returns a function that makes n readers of a lock on the nodes.
func readLocks(t *testing.T, f *nodes) func(name string, n int) {
	l := engineOf(t, f, "prices-1")
	return func(name string, n int) {
		rw, err := rwlock.New(l, name)
		must(t, err)
		for range n {
			_, err := rw.RLock(t.Context(), lock.NoRenew(), lock.TTL(time.Minute))
			must(t, err)
		}
	}
}

// TestReadersAreNoLeak, few or too many to be read, nor is a waiting writer. Readers whose TTL somebody took away are.
func TestReadersAreNoLeak(t *testing.T) {
	f := startNodes(t, 1)
	read := readLocks(t, f)
	read("few", 2)
	read("many", 40)
	read("leaked", 2)
	rw, err := rwlock.New(engineOf(t, f, "writer"), "few")
	must(t, err)
	if _, err := rw.Lock(t.Context(), lock.MaxWait(500*time.Millisecond)); err == nil {
		t.Error("a writer beside readers")
	}
	read("flood", 20)
	for _, key := range []string{"lock:leaked", "lock:flood"} {
		must(t, f.clients[0].Persist(t.Context(), key).Err())
	}
	for _, path := range paths() {
		s := newScanner(t, f.clients, scanner.UsePath(path), scanner.WithPatterns("lock:*", "lockscope:*"))
		r := sweep(t, s)
		wantFindings(t, string(path), r.Findings, "no_ttl lock:leaked", "no_ttl lock:flood")
		flood := find(t, r.Findings, inspect.NoTTL, "lock:flood")
		if flood.Hold.Kind != lock.KindRead || !strings.Contains(flood.Evidence, "reader of flood: its TTL is -1: its 20 ") {
			t.Errorf("%+v", flood)
		}
		refused(t, s, flood, repair.ErrNotRepairable, "check it by hand")
	}
	r := sweep(t, newScanner(t, f.clients, scanner.WithPatterns("lock:*", "lockscope:*")))
	leak := find(t, r.Findings, inspect.NoTTL, "lock:leaked")
	if leak.Hold.Kind != lock.KindRead || leak.Hold.Fence == 0 || !strings.HasPrefix(leak.Evidence, "reader of leaked: ") {
		t.Errorf("%+v", leak)
	}
}

// TestAReaderThatIsHeldTooLong is found among others that come and go.
func TestAReaderThatIsHeldTooLong(t *testing.T) {
	f := startNodes(t, 1)
	now := time.Now()
	reader := func(tok string, since time.Time) {
		value := fmt.Sprintf("%d:%s", now.Add(time.Minute).UnixMilli(),
			strings.TrimPrefix(lockscopeValue(tok, since), tok+":")+"|||read")
		must(t, f.clients[0].HSet(t.Context(), "lock:prices", tok, value).Err())
		must(t, f.clients[0].PExpire(t.Context(), "lock:prices", time.Minute).Err())
	}
	reader(tokenOf("stuck"), now.Add(-3*time.Hour))
	reader(tokenOf("a"), now)
	come := scanner.WithConfirmAfter(200 * time.Millisecond)
	time.AfterFunc(100*time.Millisecond, func() { reader(tokenOf("b"), now) })
	r := sweep(t, newScanner(t, f.clients, come))
	wantFindings(t, "a stuck reader", r.Findings, "held_too_long lock:prices")
}
