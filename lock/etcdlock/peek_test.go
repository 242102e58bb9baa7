package etcdlock_test

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestPeekWritesNothing: the revision of the cluster stays, whatever is there.
func TestPeekWritesNothing(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	l, db := locker(t, c), client(t, c)
	revision := func() int64 {
		resp, err := db.Get(t.Context(), "none", clientv3.WithCountOnly())
		must(t, err)
		return resp.Header.Revision
	}
	peek := func(held bool) {
		t.Helper()
		before := revision()
		s, err := l.Peek(t.Context(), "job")
		if must(t, err); s.Held != held || revision() != before {
			t.Errorf("%+v at revision %d after %d", s, revision(), before)
		}
	}
	peek(false)
	lease, err := l.Acquire(t.Context(), "job")
	must(t, err)
	peek(true)
	must(t, lease.Release(t.Context()))
	peek(false)
}
