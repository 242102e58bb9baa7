package lock_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain also covers the internal tests: both packages are one test binary.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
