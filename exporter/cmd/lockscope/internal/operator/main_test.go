package operator

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/run"
)

// lockscope has the commands under test.
var lockscope = cmdtest.Of(Hold, Revoke, Repair, run.Command, list.Command)

func TestMain(m *testing.M) { cmdtest.MainOrLockscope(m, lockscope) }

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return lockscope.Command(t, args...)
}
