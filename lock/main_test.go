package lock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

// TestMain also covers the internal tests: both packages are one test binary.
func TestMain(m *testing.M) { leaktest.Main(m) }
