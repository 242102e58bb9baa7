package fleet

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner/listing"
)

// HeldFor is how long a lock had been held when it was read; zero if unknown.
func HeldFor(l *listing.Lock) time.Duration {
	if l.Hold.Since.IsZero() {
		return 0
	}
	return max(0, l.At.Sub(l.Hold.Since))
}

// SecondsLeft is nil for a lock that never expires.
func SecondsLeft(ttl time.Duration) *float64 {
	if ttl < 0 {
		return nil
	}
	s := ttl.Seconds()
	return &s
}

// LongestWait is the longest known wait; a plain Mutex of etcd has none.
func LongestWait(f *listing.WaitedFor) (most time.Duration) {
	for _, q := range f.Queue {
		most = max(most, Waited(q, f.At))
	}
	return most
}

// Waited is how long a waiter had waited when the queue was read. The wait may be over by now.
func Waited(q stored.Queued, read time.Time) time.Duration {
	since := q.Since
	if q.Says != nil {
		since = q.Says.Since
	}
	if since.IsZero() {
		return 0
	}
	return max(0, read.Sub(since))
}

// QueuesErr is of queues that could not be read; nil if all could.
func QueuesErr(w *listing.Waits) error {
	switch {
	case w.Err != nil && redisconn.IsDenied(w.Err) && !redisconn.IsStranger(w.Err):
		return fmt.Errorf(
			"%w (grant +scan %%R~lockscope:queue:* %%R~lockscope:waiter:* "+
				"+zrange +zcard +mget)", w.Err)
	case w.Omitted:
		return fmt.Errorf("only the first %d locks with waiters were read: use --filter",
			listing.MaxWaitedFor)
	}
	return w.Err
}
