package doctor

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
)

func TestMain(m *testing.M) { cmdtest.Main(m) }

// run is lockscope with the commands under test.
var run = cmdtest.Of(Command, Init, Reconfigure, list.Command)

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.Command(t, args...)
}

func commandWith(t *testing.T, environ []string, stdin string, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.With(t, environ, stdin, args...)
}
