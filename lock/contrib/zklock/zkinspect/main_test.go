package zkinspect

import (
	"testing"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
