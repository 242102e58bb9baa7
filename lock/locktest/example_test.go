package locktest_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// If you implement or decorate lock.Locker, run the suite in a test of your own.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestMyLocker(t *testing.T)
		nodes := memlock.NewNodes(3)
		locktest.Run(t, locktest.Driver{New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			locker, err := memlock.New(nodes, opts...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = locker.Close() })
			return locker // myPackage.Wrap(locker)
		}, Capabilities: driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true, SlotQueue: true}})
	}
	// Output:
}
