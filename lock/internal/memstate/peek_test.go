package memstate

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// TestPeekChangesNothing in a state that has a bit of everything.
func TestPeekChangesNothing(t *testing.T) {
	s := New()
	instant := at(s, now)
	for _, token := range []string{"t1", "t2", "t3"} {
		if _, err := instant.Acquire(driver.AcquireRequest{Key: "lock:a", Token: token, Holder: "h|1|", TTL: time.Minute,
			Waiter: driver.Waiter{ID: "w" + token, Enqueue: true, Record: "r"}}); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = instant.Acquire(driver.AcquireRequest{Key: "lock:b", Token: "t4", TTL: time.Minute})
	instant.Release(driver.ReleaseRequest{Key: "lock:b", Token: "t4", Tombstone: time.Minute})
	before := s.Clone()
	if got := instant.Peek(driver.PeekRequest{Key: "lock:a"}); !got.Held || got.Holder != "h|1|" || got.TTL != time.Minute ||
		got.Counter != s.Locks["lock:a"].Counter {
		t.Errorf("%+v", got)
	}
	for _, key := range []string{"lock:b", "lock:c"} {
		if got := instant.Peek(driver.PeekRequest{Key: key}); got != (driver.PeekReply{}) {
			t.Errorf("%s: %+v", key, got)
		}
	}
	if !reflect.DeepEqual(before, s.Clone()) {
		t.Errorf("changed from %+v to %+v", before, s)
	}
}
