package zklock_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
)

// promptly is more than a call takes on a machine that is busy, and less than what nobody should wait for.
const promptly = 4 * time.Second

func deaf(t *testing.T) string {
	t.Helper()
	d, err := netfault.Deaf()
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d.Addr()
}

// hangsUp accepts connections and closes them, as a server without a majority does.
func hangsUp(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

// TestNobodyIsThere: the first call says so, by name and cause of each server, in about the time a call may take.
func TestNobodyIsThere(t *testing.T) {
	silent := deaf(t)
	for name, c := range map[string]struct {
		addrs  []string
		causes []string
	}{
		"refused": {[]string{"127.0.0.1:1", "127.0.0.1:2"},
			[]string{"127.0.0.1:1: ", "127.0.0.1:2: ", "connection refused"}},
		"deaf":     {[]string{silent}, []string{silent + ": ", "did not answer within 500ms"}},
		"hangs up": {[]string{hangsUp(t)}, []string{"it has no majority"}},
	} {
		for how, opts := range map[string][]lock.AcquireOption{"NoWait": {lock.NoWait()},
			"MaxWait": {lock.MaxWait(promptly / 2)}, "context": nil} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				l, err := zklock.New(c.addrs)
				must(t, err)
				t.Cleanup(func() { must(t, l.Close()) })
				ctx, cancel := context.WithTimeout(t.Context(), promptly/2)
				defer cancel()
				began := time.Now()
				_, err = l.Acquire(ctx, "job", opts...)
				took := time.Since(began)
				wantErr(t, err, lock.ErrNoQuorum, driver.ErrUnreachable, driver.ErrNotSent)
				wantText(t, err, append(c.causes, "lockscope doctor")...)
				if took > promptly {
					t.Errorf("it took %v", took)
				}
			})
		}
	}
}

// wantText finds in the error of the one node there is all that it should say.
func wantText(t *testing.T, err error, says ...string) {
	t.Helper()
	var node *lock.NodeError
	if !errors.As(err, &node) {
		t.Fatalf("no node is named: %v", err)
	}
	for _, want := range says {
		if text := node.Error(); !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// TestOneServerAnswers: beside one that hangs and one that is gone the first call is served, whichever the client tries
// first.
func TestOneServerAnswers(t *testing.T) {
	e := ensemble(t, 1)
	silent := deaf(t)
	for range 6 { // the client tries them in a random order
		l, err := zklock.New([]string{silent, "127.0.0.1:1", e.Addrs()[0]})
		must(t, err)
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		must(t, err)
		must(t, lease.Release(t.Context()))
		must(t, l.Close())
	}
}

// TestServersDie after they were reached: the next call says which and why, and all is well when they are back.
func TestServersDie(t *testing.T) {
	e := ensemble(t, 1)
	l := locker(t, e)
	must(t, acquire(t, l, "job").Release(t.Context()))
	must(t, e.Servers[0].Kill())
	eventually(t, "it is told that nobody listens", func() bool {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, lock.ErrNoQuorum)
		return errors.Is(err, driver.ErrUnreachable) && strings.Contains(err.Error(), e.Addrs()[0]+": dial tcp")
	})
	must(t, e.Servers[0].Start())
	must(t, acquire(t, l, "job").Release(t.Context()))
}
