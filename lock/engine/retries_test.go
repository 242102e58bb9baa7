package engine

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
)

// unsendable is a release whose sending panics.
type unsendable struct{ retriable }

func (unsendable) retry() {}

// TestReleaseRetriesAreBounded in number and in time, and begin again after a pause.
func TestReleaseRetriesAreBounded(t *testing.T) {
	clock := &enginetest.Clock{}
	n := &node{set: &set{cfg: &config{clock: clock.Read}}}
	n.retries.running = true
	n.retries.due = make([]pendingRelease, maxReleaseRetries)
	if n.retries.add(n.set, unsendable{}); len(n.retries.due) != maxReleaseRetries {
		t.Errorf("%d releases are kept", len(n.retries.due))
	}
	clock.Now = time.Hour
	n.retries.due = []pendingRelease{{retriable: unsendable{}, until: time.Minute}} // sending it would panic
	if n.retries.run(n.set); len(n.retries.due) != 0 || n.retries.running {
		t.Errorf("%d releases are left; running: %v", len(n.retries.due), n.retries.running)
	}
}
