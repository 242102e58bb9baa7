package live_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	leaktest.Main(m)
}

// quiet keeps go-redis from logging every refused dial to a node that a test has stopped.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
