package config

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

func TestMain(m *testing.M) { cmdtest.Main(m) }
