package scanner_test

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// TestMain also covers the internal tests: both packages are one test binary.
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(childMain(job)) // as a process of a benchmark or a test
	}
	goleak.VerifyTestMain(patient{m})
}

// patient waits for go-redis, which for up to a second after its client was closed tries once more to reach a server.
type patient struct{ *testing.M }

func (p patient) Run() int {
	status := p.M.Run()
	for tries := 0; tries < 5 && goleak.Find() != nil; tries++ {
	}
	return status
}

// childEnv names the job that the test binary does instead of testing.
const childEnv = "LOCKSCOPE_TEST_CHILD"

// quiet keeps go-redis from logging every refused dial to a node that a test has killed.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
