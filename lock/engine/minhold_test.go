package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// TestMinHoldIsNotHandedOver: the next caller of the process also has to wait for it, and is served in time although nobody
// tells it.
func TestMinHoldIsNotHandedOver(t *testing.T) {
	const hold = 30 * time.Second // longer than the TTL
	for _, worked := range []time.Duration{0, hold / 3} {
		inProcess(t, func(p *process) {
			holder, waiting := p.queue([]lock.AcquireOption{lock.MinHold(hold)}, nil)
			began, next := time.Now(), waiting[0]
			time.Sleep(worked)
			handed := p.handed.read()
			holder.release()
			synctest.Wait()
			if next.isDone() || p.handed.read() > handed || !p.isHeld() {
				t.Error("handed over, or free")
			}
			<-next.done
			// The clock of a node may run one percent faster than this one.
			if took := time.Since(began); took < hold+(hold-worked)/100 || took > hold+hold/50 {
				t.Errorf("the next caller has waited for %v", took)
			}
			next.release()
		})
	}
}

// TestMinHoldEndsWithARevoke: an operator who revokes the lease wants the lock to be free.
func TestMinHoldEndsWithARevoke(t *testing.T) {
	inProcess(t, func(p *process) {
		holder := p.call(lock.MinHold(30 * time.Second))
		holder.served()
		req := engine.RevokeRequest{By: "ada", Reason: "test"}
		if _, err := p.another().Revoke(p.t.Context(), "job", req); err != nil {
			t.Fatal(err)
		}
		holder.release()
		if p.isHeld() {
			t.Error("held after the release")
		}
	})
}

// TestMinHoldOnANodeThatHangs: it gets the release when it answers again, with what is left by then.
func TestMinHoldOnANodeThatHangs(t *testing.T) {
	for asleep, held := range map[time.Duration]bool{5 * time.Second: true, 15 * time.Second: false} {
		inProcess(t, func(p *process) {
			holder := p.call(lock.MinHold(10*time.Second), lock.TTL(time.Minute))
			holder.served()
			p.nodes[0].Freeze()
			p.nodes[1].Freeze()
			go func() { _ = holder.lease.Release(p.t.Context()) }()
			time.Sleep(asleep)
			p.nodes[0].Thaw()
			p.nodes[1].Thaw()
			time.Sleep(time.Second)
			if p.isHeld() != held {
				t.Errorf("after %v: held %v", asleep, !held)
			}
			time.Sleep(10*time.Second + 200*time.Millisecond - asleep)
			if p.isHeld() {
				t.Errorf("after %v: held for longer", asleep)
			}
		})
	}
}
