package redsynclock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

// promptly is more than a call takes on a machine that is busy, and less than what nobody should wait for.
const promptly = 4 * time.Second

// TestNobodyIsThere: the first call says so in about the time a call may take, and the cause as soon as the client
// tells it.
func TestNobodyIsThere(t *testing.T) {
	deaf, err := netfault.Deaf()
	must(t, err)
	t.Cleanup(func() { must(t, deaf.Close()) })
	for name, c := range map[string]struct{ addr, cause string }{"refused": {"127.0.0.1:1", "connection refused"},
		"deaf": {deaf.Addr(), ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := redsynclock.New(poolsOf(t, []string{c.addr}))
			must(t, err)
			defer func() { must(t, l.Close()) }()
			ask := func() string {
				t.Helper()
				_, err := l.Acquire(t.Context(), "job", lock.NoWait())
				wantErr(t, err, lock.ErrNoQuorum)
				return err.Error()
			}
			began := time.Now()
			_, err = l.Acquire(t.Context(), "job", lock.NoWait())
			took := time.Since(began)
			wantErr(t, err, lock.ErrNoQuorum, driver.ErrTimeout)
			var node *lock.NodeError
			if !errors.As(err, &node) || node.Node != "pool1" || !strings.Contains(err.Error(), "lockscope doctor") {
				t.Errorf("%v", err)
			}
			if took > promptly {
				t.Errorf("it took %v", took)
			}
			for end := time.Now().Add(patience); !strings.Contains(ask(), c.cause); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%q is not told", c.cause)
				}
			}
		})
	}
}
