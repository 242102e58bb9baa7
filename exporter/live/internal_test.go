package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestQuantiles compares with what sorting says, for waits of every size.
func TestQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	distributions := map[string]func() time.Duration{
		"even":        func() time.Duration { return time.Duration(random.Int64N(int64(time.Second))) },
		"exponential": func() time.Duration { return time.Duration(random.ExpFloat64() * float64(3*time.Millisecond)) },
		"two humps": func() time.Duration {
			if random.IntN(10) == 0 {
				return 5*time.Second + time.Duration(random.Int64N(int64(time.Second)))
			}
			return 100*time.Microsecond + time.Duration(random.Int64N(int64(time.Millisecond)))
		},
		"hours":    func() time.Duration { return time.Duration(random.Int64N(int64(4 * time.Hour))) },
		"constant": func() time.Duration { return 1234567 * time.Nanosecond },
	}
	for name, draw := range distributions {
		for _, n := range []int{1, 2, 10, 99, 10_000} {
			var h, left, right histogram
			all := make([]time.Duration, n)
			for i := range all {
				all[i] = draw()
				h.add(all[i])
				if i%3 == 0 {
					left.add(all[i])
				} else {
					right.add(all[i])
				}
			}
			slices.Sort(all)
			left.merge(&right)
			for _, q := range []float64{0, .01, .5, .9, .99, 1} {
				want := all[max(int(float64(n)*q+.9999999), 1)-1]
				got := h.quantile(q)
				if off := (got - want).Abs(); float64(off) > max(.0626*float64(want), float64(time.Microsecond/2)) {
					t.Errorf("%s: quantile %v of %d is %v, want %v", name, q, n, got, want)
				}
				if merged := left.quantile(q); merged != got {
					t.Errorf("%s: quantile %v is %v when merged, %v before", name, q, merged, got)
				}
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	last := -1
	for us := time.Duration(0); us < 1<<36; us += max(us/50, 1) {
		i := bucketOf(us * time.Microsecond)
		if i < last || i > last+1 || i >= buckets {
			t.Fatalf("%d us is in bucket %d, after %d", us, i, last)
		}
		last = i
	}
	if last != buckets-1 {
		t.Errorf("the last bucket is %d, want %d", last, buckets-1)
	}
	for i := range buckets {
		if got := bucketOf(middleOf(i)); got != i {
			t.Errorf("the middle %v of bucket %d is in bucket %d", middleOf(i), i, got)
		}
	}
	if bucketOf(-time.Second) != 0 || bucketOf(1<<62) != buckets-1 {
		t.Error("what is out of range has no bucket")
	}
}

// TestClockSetBack keeps wait points in order whatever the wall clock does.
func TestClockSetBack(t *testing.T) {
	var w waits
	w.init(10 * time.Second)
	at := func(s int64) time.Time { return time.Unix(1000+s, 5) }
	for _, s := range []int64{0, 1, 1, 0, 2, 5, 3, 4, 2, 30, 29, 20, 21, 35} {
		w.record(at(s), time.Duration(s)*time.Second, s%2 == 0)
		points := w.points(at(s))
		if !slices.IsSortedFunc(points, func(a, b WaitPoint) int { return a.At.Compare(b.At) }) || len(points) > 10 {
			t.Errorf("after second %d: %+v", s, points)
		}
	}
	for s := range int64(100) {
		w.record(at(100+s), time.Second, false)
	}
	points := w.points(at(199))
	if len(points) != 10 || !points[0].At.Equal(time.Unix(1190, 0)) || len(w.past) > 10 {
		t.Errorf("%d points, kept %d: %+v", len(points), len(w.past), points)
	}
}

func TestTraceOf(t *testing.T) {
	for in, want := range map[string]string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":  "0af7651916cd43dd8448eb211c80319c",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":  "",
		"00-<script>alert(1)</script>.......-b7ad6b7169203331-01":  "",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011": "",
		"": "",
	} {
		if got := traceOf(in); got != want {
			t.Errorf("traceOf(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestReplies tells answers from silence, and both from what says nothing.
func TestReplies(t *testing.T) {
	canceled := fmt.Errorf("%w: decided", context.Canceled)
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	now := time.Unix(1e9, 0)
	for i, c := range []struct {
		err                 error
		up                  bool
		calls, failed, took int
	}{
		{nil, true, 1, 0, 1},
		{canceled, true, 1, 0, 0}, // up, as before
		{fmt.Errorf("%w (%v)", driver.ErrUnheard, driver.ErrTimeout), true, 1, 0, 0},
		{fmt.Errorf("%w: nothing was sent", driver.ErrNotSent), true, 0, 0, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, refused), false, 1, 1, 0}, // it could not be, for there is nobody
		{refused, false, 1, 1, 0}, // no command took that long
		{io.ErrUnexpectedEOF, false, 1, 1, 1},
		{driver.ErrTimeout, false, 1, 1, 1},
		{driver.ErrQuarantined, false, 1, 1, 0}, // it answers, and may not vote
		{fmt.Errorf("%w: it is 7.5", driver.ErrFenceCounter), false, 1, 1, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrReplica), false, 1, 1, 0},
		{errors.New("ERR out of order"), true, 1, 1, 1},
	} {
		n := node{name: nodeName{node: "a"}, state: NodeUp}
		n.done(now, lock.NodeEnd{Took: time.Millisecond, Err: c.err})
		h := n.health(now)
		took := 0
		if h.P50 > 0 {
			took = 1
		}
		if h.Up != c.up || h.Calls != c.calls || h.Failures != c.failed || took != c.took || (h.Error != "") != (c.failed > 0) {
			t.Errorf("%d: %v makes %+v, want %+v", i, c.err, h, c)
		}
	}
}

// TestManyNodes stops at a bound, whatever a Locker calls its nodes.
func TestManyNodes(t *testing.T) {
	var n nodes
	var set nodeSet
	for i := range 1000 {
		set.note(n.done(time.Now(), lock.NodeEnd{NodeStart: lock.NodeStart{Node: fmt.Sprint(i)}}), lock.VerdictGranted)
	}
	if len(n.health(time.Now())) != maxNodes || set.len() != maxNodes {
		t.Errorf("%d nodes, %d of them in a set", len(n.all), set.len())
	}
	set.note(0, lock.VerdictRefused)
	set.note(1, lock.VerdictFailed)
	if set.len() != maxNodes-1 {
		t.Errorf("%d nodes after one refused", set.len())
	}
}

// TestBuffer keeps the first half and the latest.
func TestBuffer(t *testing.T) {
	var b buffer
	for i := range 200 {
		b.add(step{attempt: i})
	}
	var attempts []int
	for _, s := range b.steps {
		attempts = append(attempts, s.attempt)
	}
	slices.Sort(attempts)
	if len(attempts) != MaxSteps || b.omitted != 200-MaxSteps || attempts[29] != 29 || attempts[30] != 170 || attempts[59] != 199 {
		t.Errorf("omitted %d of %v", b.omitted, attempts)
	}
}

// TestKeys: whatever a set of nodes and a resource are called, the graph's name for them is theirs alone.
func TestKeys(t *testing.T) {
	seen := make(map[string]id)
	for _, backend := range []string{"", "redis", "12:redis", "\x00", ":"} {
		for _, resource := range []string{"", "order:1", "redisorder:1", "\x00", ":"} {
			of := id{backend, resource}
			if other, taken := seen[of.key()]; taken || idOf(of.key()) != of {
				t.Errorf("%q is also of %q, and is read as %q", of, other, idOf(of.key()))
			}
			seen[of.key()] = of
		}
	}
}
