package run

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

// releaseTimeout bounds how long a release waits for answers. The lock ends by its TTL then.
const releaseTimeout = 5 * time.Second

func (j *job) perform(_ context.Context, l lock.Locker) error {
	began := time.Now()
	ctx, stop := j.trouble.Watch(j.signals.Context(), j.app, j.sayWaiting)
	g, err := j.acquire(ctx, l)
	stop()
	if err != nil {
		return j.notAcquired(err)
	}
	acquired := time.Now()
	c := j.child
	c.Env = child.Grant{Resource: j.name, Fence: g.Fence(), Slot: slotOf(g)}.Environment(j.app.Env)
	child.Adopt()
	limits := child.Limits{TTL: j.locker.TTL, MaxHold: j.maxHold, KillAfter: j.killAfter}
	result, err := child.Supervise(g, c, limits, j.signals, j.say)
	if result.Lost {
		j.say(j.trouble.Lost(g, j.name).Error())
	}
	j.release(g, result.Lost)
	switch _, signalled := errors.AsType[*child.SignalError](err); {
	case signalled:
		return j.notAcquired(err)
	case err != nil:
		return err
	}
	o := outcome{
		ended: time.Now(), status: result.Status, waited: acquired.Sub(began), held: time.Since(acquired),
		lost: result.Lost,
	}
	for _, err := range j.publish.Send(context.Background(), prometheus.Labels{"resource": j.name}, o.metrics) {
		j.say(err.Error())
	}
	return status(result.Status)
}

// status ends the program with the status of the command, and nothing to say.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return &ui.StatusError{Status: code}
}

// acquire waits for the lock. A signal ends the wait, and not the lease: that is renewed until the command has ended. The
// engine decides between machines that ask at the same instant, as cron has them do.
func (j *job) acquire(ctx context.Context, l lock.Locker) (lock.Lease, error) {
	l, err := j.wanted(l)
	if err != nil {
		return nil, err
	}
	opts := append(j.wait.Options(), lock.TTL(j.locker.TTL), lock.MaxHold(lock.Unlimited))
	return lock.AcquireDetached(ctx, l, j.name, opts...)
}

// release gives the lock back. The command has ended: whatever the answer is, its exit status counts. If the lock was
// lost, that was said.
func (j *job) release(g lock.Lease, lost bool) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	err := g.Release(ctx)
	switch {
	case err == nil || lost:
	case errors.Is(err, lock.ErrNotHeld):
		j.say("the command may have outlived its lock: " + err.Error())
	default:
		j.say("the lock is not released: it ends with its TTL: " + err.Error())
	}
}
