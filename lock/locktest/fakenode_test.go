package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// fake is a server, a node of it, and requests to send, in a bubble.
type fake struct {
	*testing.T
	server *locktest.FakeServer
	node   *locktest.FakeNode
	key    string
}

func inBubble(t *testing.T, faults locktest.Faults, test func(f *fake), opts ...locktest.ServerOption) {
	synctest.Test(t, func(t *testing.T) {
		s := locktest.NewFakeServer("fake", opts...)
		f := &fake{T: t, server: s, node: s.Connect(1, faults), key: "lock:a"}
		test(f)
		if err := f.node.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

func (f *fake) acquire(token string) (driver.AcquireReply, error) {
	ctx, cancel := context.WithTimeout(f.Context(), 50*time.Millisecond)
	defer cancel()
	return f.node.Acquire(ctx, driver.AcquireRequest{Key: f.key, Token: token, TTL: time.Second,
		Floor: uint64(time.Now().UnixMicro())})
}

// wantTimeout checks that a call ends with its context, and not before.
func (f *fake) wantTimeout(token string) {
	f.Helper()
	began := time.Now()
	_, err := f.acquire(token)
	if took := time.Since(began); !errors.Is(err, driver.ErrTimeout) || took != 50*time.Millisecond {
		f.Errorf("%v after %v; a node timeout after 50ms expected", err, took)
	}
}

func (f *fake) wantHeld(token string) {
	f.Helper()
	synctest.Wait()
	if held, ok := f.server.Lock("lock:a"); held.Token != token || ok != (token != "") {
		f.Errorf("token %q holds the lock; %q expected", held.Token, token)
	}
}

func TestFakeNodeLosesRequest(t *testing.T) {
	inBubble(t, locktest.Faults{LoseRequest: 1}, func(f *fake) {
		f.wantTimeout("a")
		f.wantHeld("")
	})
}

func TestFakeNodeLosesReply(t *testing.T) {
	inBubble(t, locktest.Faults{LoseReply: 1}, func(f *fake) {
		f.wantTimeout("a")
		f.wantHeld("a")
	})
}

func TestFakeNodeDeliversLate(t *testing.T) {
	inBubble(t, locktest.Faults{Late: 1, LateBy: locktest.Between(time.Minute, time.Minute)}, func(f *fake) {
		f.wantTimeout("a")
		f.wantHeld("")
		time.Sleep(time.Minute - 50*time.Millisecond)
		f.wantHeld("a")
	})
}

func TestFakeServerPauses(t *testing.T) {
	inBubble(t, locktest.Faults{}, func(f *fake) {
		f.server.Pause()
		f.wantTimeout("a")
		f.server.Resume()
		f.wantHeld("a")
	})
}

func TestFakeServerCrashes(t *testing.T) {
	inBubble(t, locktest.Faults{}, func(f *fake) {
		if reply, err := f.acquire("a"); err != nil || !reply.Granted ||
			reply.Counter != uint64(time.Now().UnixMicro()) {
			f.Fatalf("%+v, %v", reply, err)
		}
		f.server.Pause()
		f.wantTimeout("b") // what a dead process has not read is lost
		f.server.Crash()
		if _, err := f.acquire("c"); err == nil || errors.Is(err, driver.ErrTimeout) {
			f.Errorf("asking a server that is down: %v", err)
		}
		f.server.Restart()
		f.wantHeld("a")
		f.server.Crash()
		f.server.RestartEmpty(time.Minute)
		f.wantHeld("")
		if _, err := f.acquire("d"); !errors.Is(err, driver.ErrQuarantined) {
			f.Errorf("asking a server in quarantine: %v", err)
		}
		time.Sleep(time.Minute)
		if _, err := f.acquire("e"); err != nil {
			f.Errorf("after quarantine: %v", err)
		}
	})
}

func TestFakeServerExpiresByItsOwnClock(t *testing.T) {
	inBubble(t, locktest.Faults{}, func(f *fake) {
		if _, err := f.acquire("a"); err != nil {
			f.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		f.wantHeld("a")
		time.Sleep(time.Millisecond)
		f.wantHeld("")
	}, locktest.WithRate(2))
}

func TestFakeServerWakesByName(t *testing.T) {
	inBubble(t, locktest.Faults{}, func(f *fake) {
		woken := make(chan string, 10)
		wake := func(key string) { woken <- key }
		for range 2 { // the second call has no effect
			if err := f.node.Subscribe(f.Context(), "w", wake); err != nil {
				f.Fatal(err)
			}
		}
		if _, err := f.acquire("a"); err != nil {
			f.Fatal(err)
		}
		_, err := f.node.Acquire(f.Context(),
			driver.AcquireRequest{Key: f.key, Token: "b", TTL: time.Second,
				Waiter: driver.Waiter{ID: "w", Enqueue: true}})
		if err != nil || f.server.QueueLength() != 1 {
			f.Fatalf("queueing: %v, %d in the queue", err, f.server.QueueLength())
		}
		reply, err := f.node.Release(f.Context(), driver.ReleaseRequest{Key: f.key, Token: "a", Handoff: time.Second})
		if err != nil || !reply.Named || <-woken != "lock:a" {
			f.Errorf("release: %+v, %v", reply, err)
		}
		f.server.Crash()
		f.server.Restart()
		if key := <-woken; key != "" {
			f.Errorf("woken with %q after a restart; %q expected", key, "")
		}
	})
}
