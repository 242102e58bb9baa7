package scanner_test

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

// TestMain also covers the internal tests: both packages are one test binary.
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(childMain(job)) // as a process of a benchmark or a test
	}
	leaktest.Main(m)
}

// childEnv names the job that the test binary does instead of testing.
const childEnv = "LOCKSCOPE_TEST_CHILD"

// quiet keeps go-redis from logging every refused dial to a node that a test has killed.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
