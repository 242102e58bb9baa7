package live_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m)
}

// quiet keeps go-redis from logging every refused dial to a node that a test has stopped.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
