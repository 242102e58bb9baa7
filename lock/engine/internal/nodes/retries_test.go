package nodes

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
)

// unsendable is a release whose sending panics.
type unsendable struct{ Retriable }

func (unsendable) Retry() {}

// TestReleaseRetriesAreBounded in number and in time, and begin again after a pause.
func TestReleaseRetriesAreBounded(t *testing.T) {
	clock := &enginetest.Clock{}
	n := &Node{Set: &Set{Config: &Config{Clock: clock.Read}}}
	n.Retries.running = true
	n.Retries.due = make([]pendingRelease, maxReleaseRetries)
	if n.Retries.Add(n.Set, unsendable{}); len(n.Retries.due) != maxReleaseRetries {
		t.Errorf("%d releases are kept", len(n.Retries.due))
	}
	clock.Now = time.Hour
	n.Retries.due = []pendingRelease{{Retriable: unsendable{}, until: time.Minute}} // sending it would panic
	if n.Retries.run(n.Set); len(n.Retries.due) != 0 || n.Retries.running {
		t.Errorf("%d releases are left; running: %v", len(n.Retries.due), n.Retries.running)
	}
}
