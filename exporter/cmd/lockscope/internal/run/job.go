package run

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// releaseTimeout bounds how long a release waits for answers. The lock ends by its TTL then.
const releaseTimeout = 5 * time.Second

// job is one run.
type job struct {
	*runFlags
	signals *child.Signals
	say     func(string)
	child   child.Command
}

// grant is a lease or a permit.
type grant interface {
	child.Lease
	Fence() uint64
	Release(ctx context.Context) error
}

func (j *job) run(ctx context.Context, a *app.App, l lock.Locker) error {
	began := time.Now()
	g, slot, err := j.acquire(ctx, l)
	if err != nil {
		return j.notAcquired(err)
	}
	acquired := time.Now()
	c := j.child
	c.Env = child.Grant{Resource: j.name, Fence: g.Fence(), Slot: slot}.Environment(a.Env)
	child.Adopt()
	limits := child.Limits{TTL: j.locker.TTL, MaxHold: j.maxHold, KillAfter: j.killAfter}
	result, err := child.Supervise(g, c, limits, j.signals, j.say)
	j.release(g, result.Lost)
	switch _, signalled := errors.AsType[*child.SignalError](err); {
	case signalled:
		return j.notAcquired(err)
	case err != nil:
		return err
	}
	for _, err := range j.publisher.publish(outcome{
		ended: time.Now(), status: result.Status, waited: acquired.Sub(began), held: time.Since(acquired),
		lost: result.Lost,
	}) {
		j.say(err.Error())
	}
	return status(result.Status)
}

// status ends the program with the status of the command, and nothing to say.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return &app.StatusError{Status: code}
}

// acquire waits for the lock. A signal ends the wait, and not the lease: that is renewed until the command has ended.
func (j *job) acquire(ctx context.Context, l lock.Locker) (g grant, slot int, err error) {
	waiting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	attached := context.AfterFunc(j.signals.Context(), func() { cancel(context.Cause(j.signals.Context())) })
	g, slot, err = j.ask(waiting, l)
	if detached := attached(); err == nil && !detached {
		j.release(g, false)
		return nil, 0, context.Cause(waiting)
	}
	return g, slot, err
}

// now reports that the run does not wait for a lock that is held.
func (j *job) now() bool { return j.noWait || j.waitIsGiven && j.wait == 0 }

// ask makes the call. The engine decides between machines that ask at the same instant, as cron has them do.
func (j *job) ask(ctx context.Context, l lock.Locker) (grant, int, error) {
	opts := []lock.AcquireOption{lock.TTL(j.locker.TTL), lock.MaxHold(lock.Unlimited)}
	switch {
	case j.now():
		opts = append(opts, lock.NoWait())
	case j.wait > 0:
		opts = append(opts, lock.MaxWait(j.wait))
	}
	if j.slots == 0 {
		lease, err := l.Acquire(ctx, j.name, opts...)
		return lease, -1, err
	}
	s, err := semaphore.New(l, j.name, j.slots)
	if err != nil {
		return nil, -1, err
	}
	permit, err := s.Acquire(ctx, opts...)
	if err != nil {
		return nil, -1, err
	}
	return permit, permit.Slot(), nil
}

// release gives the lock back. The command has ended: whatever the answer is, its exit status counts. If the lock was
// lost, that was said.
func (j *job) release(g grant, lost bool) {
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
