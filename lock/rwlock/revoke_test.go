package rwlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// operate revokes all readers now and then, and checks what it was promised: once the time is over, no reader is valid
// that was valid before.
func (h *history) operate(e *engine.Engine, luck *rand.Rand, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(luck.Int64N(int64(2 * time.Second)))):
		}
		before := h.readers()
		r, err := e.Revoke(h.Context(), "prices", engine.RevokeRequest{By: "operator", Reason: "simulated", Readers: true})
		if err != nil {
			continue
		}
		h.revoked++
		time.Sleep(r.FreeIn + r.FreeIn/100 + 10*time.Millisecond)
		for _, lease := range before {
			h.outlived(lease)
		}
	}
}

// readers are those that have a valid lease.
func (j *judge) readers() (all []lock.Lease) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for lease, writes := range j.held {
		if !writes && lease.Remaining() > 0 {
			all = append(all, lease)
		}
	}
	return all
}

// outlived judges a lease that was revoked, once it has to be over.
func (j *judge) outlived(lease lock.Lease) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if left := lease.Remaining(); left > 0 && lease.Context().Err() == nil {
		j.note("a revoked reader is valid for %v after the promised time", left)
	}
}

// link is a node as a process has it.
func (h *history) link(n *locktest.FakeNode) driver.BlockingNode {
	if h.unmarked {
		return markIgnored{n}
	}
	return n
}

// markIgnored takes the refusal of a revoked reader for a renewal, as if nobody looked for marks.
type markIgnored struct{ *locktest.FakeNode }

func (n markIgnored) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	reply, err := n.FakeNode.Extend(ctx, req)
	if _, revoked := errors.AsType[*driver.RevokedError](err); revoked {
		return driver.ExtendDone, nil
	}
	return reply, err
}

// TestHistoriesWithRevokes: readers end by the promised time, and no other promise is broken.
func TestHistoriesWithRevokes(t *testing.T) {
	revoked := 0
	for seed := range uint64(60) {
		h := &history{operates: true}
		if broken, _ := play(t, seed, h, 1); len(broken) > 0 {
			t.Fatalf("seed %d: %d times: %s", seed, len(broken), broken[0])
		}
		revoked += h.revoked
	}
	if t.Logf("readers were revoked %d times", revoked); revoked < 100 {
		t.Errorf("readers were revoked %d times: hardly ever", revoked)
	}
}

// TestHistoriesNoticeIgnoredMarks is the control.
func TestHistoriesNoticeIgnoredMarks(t *testing.T) {
	for seed := range uint64(60) {
		if broken, _ := play(t, seed, &history{operates: true, unmarked: true}, 1); len(broken) > 0 {
			return
		}
	}
	t.Error("readers that are renewed although they are revoked go unnoticed")
}
