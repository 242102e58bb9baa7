package claimlist_test

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

func reads(claim rune) bool { return claim == 'r' }

// TestHolders: w is a writer, r a reader.
func TestHolders(t *testing.T) {
	for list, want := range map[string]int{"": 0, "w": 1, "wr": 1, "r": 1, "rrw": 2, "rwr": 1, "rrr": 3} {
		if got := claimlist.Holders([]rune(list), reads); got != want {
			t.Errorf("%d claims of %q hold the lock, want %d", got, list, want)
		}
	}
}

// TestRivals: a claim holds the lock if and only if it has no rivals in front.
func TestRivals(t *testing.T) {
	for _, list := range []string{"wwr", "rrw", "rwrw", "wrr"} {
		claims := []rune(list)
		held := claimlist.Holders(claims, reads)
		for i, c := range claims {
			rivals := claimlist.Rivals(claims[:i], reads(c), reads)
			if holds := i < held; holds != (len(rivals) == 0) {
				t.Errorf("claim %d of %q holds: %v, and has the rivals %q", i, list, holds, string(rivals))
			}
			if reads(c) && strings.ContainsRune(string(rivals), 'r') {
				t.Errorf("claim %d of %q waits for readers: %q", i, list, string(rivals))
			}
		}
	}
}

func TestSlots(t *testing.T) {
	for text, want := range map[string]int{"5": 5, "": 0, "0": 0, "-3": 0, "5 ": 0, "99999999999999999999": 0} {
		if got, ok := claimlist.ParseSlots([]byte(text)); ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %d slots, %v", text, got, ok)
		}
	}
	for _, c := range []struct {
		known, from, to int
		want            bool
	}{{0, 2, 3, true}, {2, 2, 3, true}, {3, 2, 3, true}, {4, 2, 3, false}, {2, 2, 0, false}, {0, 0, 0, false}} {
		if got := claimlist.Resizes(c.known, c.from, c.to); got != c.want {
			t.Errorf("from %d to %d where %d is known: %v", c.from, c.to, c.known, got)
		}
	}
}

// list has the claims in order, in memory. The first of them hold the lock.
type list struct {
	holders []*claimlist.Holder[int]
	marks   map[string]string // by grant
	gone    string            // the grant of a claim that ends before it is marked
}

func (l *list) Holder(context.Context, string) (*claimlist.Holder[int], error) {
	if len(l.holders) == 0 {
		return nil, nil
	}
	return l.holders[0], nil
}

func (l *list) Readers(context.Context, string) ([]*claimlist.Holder[int], error) {
	return l.holders, nil
}

func (l *list) Mark(_ context.Context, h *claimlist.Holder[int], record string, _ time.Duration) (string, bool, error) {
	if h.Grant == l.gone {
		return "", false, nil
	}
	return cmp.Or(l.marks[h.Grant], record), true, nil
}

func TestRevoke(t *testing.T) {
	const left, longest = 3 * time.Second, 8 * time.Second
	writer := &claimlist.Holder[int]{Record: "web", Grant: "7", Fence: 70, Left: left, Longest: longest}
	reader := func(grant string, left time.Duration) *claimlist.Holder[int] {
		return &claimlist.Holder[int]{Record: "web", Reads: true, Grant: grant, Left: left, Longest: longest}
	}
	read := func(grant string, ttl time.Duration, mark string) driver.RevokeReader {
		return driver.RevokeReader{Grant: grant, Held: true, Holder: "web", TTL: ttl, Record: mark}
	}
	held := driver.RevokeReply{Held: true, Grant: "7", Counter: 70, TTL: left, Holder: "web"}
	marked := held
	marked.TTL, marked.Record = longest, "ops"
	readers := []*claimlist.Holder[int]{reader("7", left), reader("8", left), reader("", 2*longest)}
	for _, c := range []struct {
		name  string
		list  list
		grant string
		named []string
		want  driver.RevokeReply
	}{
		{"nobody", list{}, "7", nil, driver.RevokeReply{}},
		{"who holds it", list{holders: []*claimlist.Holder[int]{writer}}, "", nil, held},
		{"the holder", list{holders: []*claimlist.Holder[int]{writer}}, "7", nil, marked},
		{"one before", list{holders: []*claimlist.Holder[int]{writer}}, "6", nil, held},
		{"one that ends", list{holders: []*claimlist.Holder[int]{writer}, gone: "7"}, "7", nil, driver.RevokeReply{}},
		{"readers", list{holders: readers}, "", nil, driver.RevokeReply{Held: true, ByReaders: true, TTL: 2 * longest,
			Readers: []driver.RevokeReader{read("7", left, ""), read("8", left, "")}}},
		{"one reader, and one that is gone", list{holders: readers[:2], marks: map[string]string{"8": "earlier"}}, "",
			[]string{"8", "9"}, driver.RevokeReply{Held: true, ByReaders: true, TTL: longest, Readers: []driver.RevokeReader{
				read("7", left, ""), read("8", longest, "earlier"), {Grant: "9", Record: "ops"}}}},
		{"a reader that ends", list{holders: readers[:1], gone: "7"}, "", []string{"7"}, driver.RevokeReply{
			Readers: []driver.RevokeReader{{Grant: "7", Record: "ops"}}}},
		{"readers without an end", list{holders: []*claimlist.Holder[int]{reader("7", -1), reader("8", left)}}, "", nil,
			driver.RevokeReply{Held: true, ByReaders: true, TTL: -1,
				Readers: []driver.RevokeReader{read("7", -1, ""), read("8", left, "")}}},
	} {
		req := driver.RevokeRequest{Grant: c.grant, Readers: c.named, Record: "ops"}
		if got, err := claimlist.Revoke(t.Context(), &c.list, req); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestRegistry(t *testing.T) {
	r := claimlist.NewRegistry[string]()
	r.Remember("token", "first")
	if r.Of("token") != "first" || r.Of("other") != "" {
		t.Error("a token names another's claim")
	}
	if former := r.Queue("job", "first"); former != "" {
		t.Errorf("%q waited before", former)
	}
	if former := r.Queue("job", "second"); former != "first" {
		t.Errorf("%q waited before", former)
	}
	if r.Unqueue("job", "first"); r.Queued("job") != "second" {
		t.Errorf("%q waits, after the claim before it ended", r.Queued("job"))
	}
	if made, queued := r.All(); !slices.Equal(made, []string{"first"}) || !slices.Equal(queued, []string{"second"}) {
		t.Errorf("%q and %q", made, queued)
	}
	r.Forget("token")
	r.Unqueue("job", "second")
	if made, queued := r.All(); len(made)+len(queued) != 0 {
		t.Errorf("%q and %q", made, queued)
	}
}

// TestBackground: nothing starts after End, and Wait waits for the rest.
func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := claimlist.NewBackground()
		var ended atomic.Bool
		if !b.Run(func() { ended.Store(!b.Pause(time.Hour)) }) {
			t.Error("refused")
		}
		if !b.Pause(time.Minute) || ended.Load() {
			t.Error("ended early")
		}
		b.End()
		if b.Wait(); !ended.Load() {
			t.Error("Wait does not wait")
		}
		if b.Run(func() {}) || b.Pause(time.Hour) {
			t.Error("it goes on after its end")
		}
	})
}

func TestParallel(t *testing.T) {
	var sum atomic.Int64
	odd := errors.New("odd")
	err := claimlist.Parallel(100, func(i int) error {
		sum.Add(int64(i))
		if i == 77 {
			return odd
		}
		return nil
	})
	if !errors.Is(err, odd) || sum.Load() != 4950 {
		t.Errorf("%v, %v", sum.Load(), err)
	}
}
