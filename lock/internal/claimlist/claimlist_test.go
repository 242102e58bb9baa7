package claimlist_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/claimlist"
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

func TestRevokedReaders(t *testing.T) {
	mine := driver.RevokeReader{Held: true, Grant: "7", TTL: 3 * time.Second, Record: "ops"}
	other := driver.RevokeReader{Held: true, TTL: 5 * time.Second} // of another library
	gone := driver.RevokeReader{Grant: "8", TTL: time.Hour}
	req := driver.RevokeRequest{Readers: []string{"7", "9"}, Record: "ops"}
	want := driver.RevokeReply{Held: true, Shared: true, TTL: 5 * time.Second,
		Readers: []driver.RevokeReader{mine, {Grant: "9", Record: "ops"}}}
	if got := claimlist.RevokedReaders([]driver.RevokeReader{mine, other, gone}, req); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	other.TTL = -1
	for _, order := range [][]driver.RevokeReader{{mine, other}, {other, mine}} {
		if got := claimlist.RevokedReaders(order, req); got.TTL != -1 {
			t.Errorf("a reader that never expires is gone after %v", got.TTL)
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
