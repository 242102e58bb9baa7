package etcdlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
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

// at is a process whose client has these endpoints.
func at(t *testing.T, endpoints ...string) *engine.Engine {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	l, err := etcdlock.New(c)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// TestNobodyIsThere: the first call says so, by name and cause, in about the time a call may take.
func TestNobodyIsThere(t *testing.T) {
	silent := deaf(t)
	for name, c := range map[string]struct {
		endpoints []string
		says      []string
	}{
		"refused": {[]string{"127.0.0.1:1", "127.0.0.1:2"},
			[]string{"127.0.0.1:1,127.0.0.1:2 ", "dial tcp 127.0.0.1:", "connection refused"}},
		"deaf":         {[]string{silent}, []string{silent + " ", "no endpoint has answered in time"}},
		"deaf, to TLS": {[]string{"https://" + silent}, []string{silent + " ", "clientv3.Config.TLS"}},
	} {
		for how, opts := range map[string][]lock.AcquireOption{"NoWait": {lock.NoWait()},
			"MaxWait": {lock.MaxWait(promptly / 2)}, "context": nil} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				l := at(t, c.endpoints...)
				ctx, cancel := context.WithTimeout(t.Context(), promptly/2)
				defer cancel()
				began := time.Now()
				_, err := l.Acquire(ctx, "job", opts...)
				took := time.Since(began)
				for _, want := range []error{lock.ErrNoQuorum, driver.ErrUnreachable, driver.ErrNotSent} {
					if !errors.Is(err, want) {
						t.Errorf("%v, want %v", err, want)
					}
				}
				wantText(t, err, append(c.says, "lockscope doctor")...)
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

// TestOneMemberAnswers: beside one that hangs and one that is gone the first call is served.
func TestOneMemberAnswers(t *testing.T) {
	c := cluster(t, 1)
	lease, err := at(t, deaf(t), "127.0.0.1:1", c.Endpoints()[0]).Acquire(t.Context(), "job", lock.NoWait())
	must(t, err)
	must(t, lease.Release(t.Context()))
}

// TestMembersDie after they were reached: the next call says which and why, and all is well soon after they are back.
func TestMembersDie(t *testing.T) {
	c := cluster(t, 1)
	l := locker(t, c)
	lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
	must(t, err)
	must(t, lease.Release(t.Context()))
	must(t, c.Members[0].Kill())
	told := func() bool {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		if !errors.Is(err, lock.ErrNoQuorum) {
			t.Fatal(err)
		}
		return errors.Is(err, driver.ErrUnreachable) && strings.Contains(err.Error(), "connection refused")
	}
	for end := time.Now().Add(time.Minute); !told(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody says that the connection is refused")
		}
	}
	must(t, c.Members[0].Start())
	lease, err = l.Acquire(t.Context(), "another", lock.MaxWait(time.Minute))
	must(t, err)
	must(t, lease.Release(t.Context()))
}
