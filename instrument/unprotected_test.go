package instrument_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/outage"
)

// TestUnprotectedRuns are counted and logged, and nothing says that the lock was held.
func TestUnprotectedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, logged := memlock.NewNodes(3), new(logText)
		next, err := memlock.New(nodes)
		must(t, err)
		defer next.Close()
		l := wrap(t, next, instrument.WithLogger(logged.logger()))
		for _, n := range nodes[1:] {
			n.Deny(driver.ErrUnreachable)
		}
		work := func(context.Context, lock.Lease) error { return nil }
		must(t, lock.Do(t.Context(), outage.Wrap(l, l.Unprotected), "job", work, lock.NoWait()))
		must(t, l.Flush(t.Context()))
		runs, failures := gather(t, l, "unprotected_runs_total", "resource", "job"), gather(t, l, "failures_total", "resource", "job")
		if runs != 1 || failures != 1 || gather(t, l, "acquisitions_total", "resource", "job", "outcome", "acquired") != 0 {
			t.Errorf("%v runs, %v failures", runs, failures)
		}
		if !strings.Contains(logged.String(), `level=WARN msg="runs without a lock" resource=job error="lock: job: no quorum`) {
			t.Error(logged)
		}
		nodes.Recover()
	})
}
