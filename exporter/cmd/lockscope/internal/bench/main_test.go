package bench

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// lockscope has the command under test.
var lockscope = cmdtest.Of(Command)

func TestMain(m *testing.M) { cmdtest.MainOrLockscope(m, lockscope) }
