package redlock_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestRealLoading: a server that restarts with much data refuses commands until it has loaded it. Callers learn that,
// as of a node that does not answer, and one that waits gets its lease once the server is done.
func TestRealLoading(t *testing.T) {
	t.Parallel()
	const perKey = 20 * time.Millisecond
	f := startNodes(t, 1, redisproc.WithArgs("--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024",
		"--rdbcompression", "no"))
	loader := f.admin[0]
	keys := make([]any, 0, 2*int(waitTime/perKey))
	for i := range cap(keys) / 2 {
		keys = append(keys, "filler"+strconv.Itoa(i), strings.Repeat("x", 1024))
	}
	must(t, loader.MSet(t.Context(), keys...).Err())
	must(t, loader.Save(t.Context()).Err())
	l := newLocker(t, f.clients(), lock.WithNodeTimeout(patience))
	restarted := make(chan error, 1)
	go func() { restarted <- f.servers[0].Restart(t.Context()) }()
	eventually(t, settleTime, "the server is loading", func() bool {
		return redis.HasErrorPrefix(loader.Ping(t.Context()).Err(), "LOADING")
	})

	_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantErr(t, err, lock.ErrNoQuorum)
	wantText(t, err, "loading its data", "wait until")
	if class := driver.ClassOf(err); class != driver.Unreachable {
		t.Errorf("%v is %q", err, class)
	}
	waiter := acquireAsync(t.Context(), l, "job", lock.MaxWait(waitTime), lock.TTL(longTTL))
	must(t, loader.ConfigSet(t.Context(), "key-load-delay", "0").Err())
	must(t, await(t, waitTime, "the server is ready", restarted))
	got := await(t, waitTime, "the waiter gets its lease", waiter)
	must(t, got.err)
	must(t, got.lease.Release(t.Context()))
}
