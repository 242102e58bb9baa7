//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// TestMain is also the worker: a campaign starts its own program again.
func TestMain(m *testing.M) {
	if cfg, isWorker, err := worker.FromEnvironment(); isWorker {
		os.Exit(work(cfg, err))
	}
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m)
}

func TestRunRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-for", "0s"}, {"-for", "soon"}, {"-clients", "0"}, {"-callers", "-1"}, {"1m"}} {
		var stdout, stderr strings.Builder
		if status := run(t.Context(), args, &stdout, &stderr); status != 2 || stdout.Len() > 0 {
			t.Errorf("%q: status %d, %q", args, status, &stdout)
		}
		if !strings.Contains(stderr.String(), "-h shows all flags") {
			t.Errorf("%q: %q", args, &stderr)
		}
	}
}

func TestRunHelps(t *testing.T) {
	var stdout, stderr strings.Builder
	if status := run(t.Context(), []string{"-h"}, &stdout, &stderr); status != 0 ||
		!strings.Contains(stdout.String(), "-seed") {
		t.Errorf("status %d, %q, %q", status, &stdout, &stderr)
	}
}
