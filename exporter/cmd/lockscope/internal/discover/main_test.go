package discover

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/scan"
)

func TestMain(m *testing.M) { cmdtest.Main(m) }

// run is lockscope with the commands under test.
var run = cmdtest.Of(Command, config.Command, scan.Command)

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.Command(t, args...)
}
