package serve

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

func TestMain(m *testing.M) { cmdtest.MainOrLockscope(m, run) }

// run is lockscope with the commands under test.
var run = cmdtest.Of(Command)
