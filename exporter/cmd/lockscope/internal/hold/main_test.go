package hold

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/revoke"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/run"
)

// lockscope has the commands under test.
var lockscope = cmdtest.Of(Command, revoke.Command, run.Command, list.Command)

func TestMain(m *testing.M) { cmdtest.MainOrLockscope(m, lockscope) }
