package reconfigure

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/vouch"
)

func TestMain(m *testing.M) { cmdtest.Main(m) }

// run is lockscope with the commands under test.
var run = cmdtest.Of(Command, vouch.Command, doctor.Command)

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.Command(t, args...)
}

func commandReading(t *testing.T, stdin string, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.With(t, nil, stdin, args...)
}
