package history

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

func TestMain(m *testing.M) { cmdtest.Main(m) }

// run is lockscope with the command of these tests.
var run = cmdtest.Of(Command)

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.Command(t, append([]string{"history"}, args...)...)
}
