package locktest_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// If you implement or decorate lock.Locker, run the suite in a test of your own.
func ExampleTestLocker() {
	_ = func(t *testing.T) { // func TestMyLocker(t *testing.T)
		nodes := memlock.NewNodes(3)
		locktest.TestLocker(t, func(t testing.TB) lock.Locker {
			locker, err := memlock.New(nodes)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = locker.Close() })
			return locker // myPackage.Wrap(locker)
		})
	}
	// Output:
}
