package redsynclock_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/go-redsync/redsync/v4"
	client "github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

// TestPeekWritesNothing: Redis counts no change, and a replica does not answer.
func TestPeekWritesNothing(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 2)
	l := locker(t, servers[:1])
	admin := client.NewClient(&client.Options{Addr: servers[0].Addr()})
	defer admin.Close()
	changes := func() string {
		for line := range strings.Lines(admin.Info(t.Context(), "persistence").Val()) {
			if strings.HasPrefix(line, "rdb_changes_since_last_save:") {
				return line
			}
		}
		return "unknown"
	}
	peek := func(held bool) {
		t.Helper()
		before := changes()
		s, err := l.Peek(t.Context(), "job")
		if must(t, err); s.Held != held || changes() != before {
			t.Errorf("%+v with %s after %s", s, changes(), before)
		}
	}
	peek(false)
	lease := acquire(t, l, "job")
	peek(true)
	must(t, lease.Release(t.Context()))
	peek(false)
	must(t, admin.SlaveOf(t.Context(), "127.0.0.1", strconv.Itoa(servers[1].Port())).Err())
	if s, err := l.Peek(t.Context(), "job"); !errors.Is(err, driver.ErrReplica) {
		t.Errorf("a replica: %+v, %v", s, err)
	}
}

// TestPeekOfWrap says what to do.
func TestPeekOfWrap(t *testing.T) {
	t.Parallel()
	l := closing(t)(redsynclock.Wrap(redsync.New(pools(t, locktest.Servers(t, 1)...)...)))
	_, err := l.Peek(t.Context(), "job")
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "use New with the pools") {
		t.Error(err)
	}
}
