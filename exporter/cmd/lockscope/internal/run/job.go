package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/outage"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// notAcquired gives the failure to acquire its exit status, and one line.
func (j *job) notAcquired(err error) error {
	return j.trouble.NotAcquired(j.signals, j.name, err, func(text string) error {
		if j.quiet && !forever(err) {
			return &ui.StatusError{Status: j.conflict}
		}
		if j.wait.Limit > 0 {
			text = fmt.Sprintf("gave up after %v: %s", j.wait.Limit, text)
		}
		return &ui.StatusError{Status: j.conflict, Err: errors.New(text)}
	})
}

// forever reports whether the lock is held without a TTL: no later run gets it either.
func forever(err error) bool {
	held, ok := errors.AsType[*lock.HeldError](err)
	return ok && held.Remaining < 0
}

// sayWaiting says what the command waits for.
func (j *job) sayWaiting(last error) {
	if !j.quiet || servers.Refusal(last) == "" || forever(last) {
		j.say(servers.WaitingFor(j.name, last))
	}
}

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
		lost: result.Lost, unlocked: j.unlocked,
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
	if j.onOutage == outageRuns {
		l = outage.Wrap(l, j.sayUnlocked)
	}
	l, err := j.wanted(l)
	if err != nil {
		return nil, err
	}
	opts := append(j.wait.Options(), lock.TTL(j.locker.TTL), lock.MinHold(j.minHold),
		lock.MaxHold(lock.Unlimited))
	return lock.AcquireDetached(ctx, l, j.name, opts...)
}

// sayUnlocked reports a run without a lock.
func (j *job) sayUnlocked(_ context.Context, r outage.Run) {
	j.unlocked = true
	j.say("too few servers answer: running without the lock, as --on-outage says: " + r.Err.Error())
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

// outcome is what there is to know of a run.
type outcome struct {
	ended        time.Time
	status       int
	waited, held time.Duration
	lost         bool
	unlocked     bool
}

// metrics are those of README.md.
func (o outcome) metrics(labels prometheus.Labels) (prometheus.Gatherer, error) {
	reg := prometheus.NewRegistry()
	add := func(name, help string, value float64) {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "lockscope_run_" + name, Help: help, ConstLabels: labels})
		g.Set(value)
		reg.MustRegister(g)
	}
	add("last_end_timestamp_seconds", "When the last command ended, in Unix time.", float64(o.ended.UnixMilli())/1000)
	add("exit_code", "Exit status of the last command.", float64(o.status))
	add("wait_seconds", "Time that the last command waited for its lock.", o.waited.Seconds())
	add("held_seconds", "Time that the last command held its lock.", o.held.Seconds())
	truth := map[bool]float64{true: 1}
	add("lost", "1 if the last command was ended because its lock was about to end, else 0.", truth[o.lost])
	add("unprotected", "1 if the last command ran without a lock, as --on-outage run says, else 0.", truth[o.unlocked])
	return reg, nil
}

// wanted is what the flags ask for, as a locker: the lock, one side of the read/write lock, or a slot.
func (j *job) wanted(l lock.Locker) (lock.Locker, error) {
	switch {
	case j.slots > 0:
		s, err := semaphore.New(l, j.name, j.slots)
		return slots{s, j.name}, err
	case j.shared || j.exclusive:
		rw, err := rwlock.New(l, j.name)
		return side{rw, j.shared}, err
	}
	return l, nil
}

// slots gives permits as leases.
type slots struct {
	semaphore *semaphore.Semaphore
	name      string
}

// Acquire implements lock.Locker.
func (s slots) Acquire(ctx context.Context, _ string, opts ...lock.AcquireOption) (lock.Lease, error) {
	permit, err := s.semaphore.Acquire(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return slot{permit, s.name}, nil
}

// slot is a permit with the name of its semaphore.
type slot struct {
	*semaphore.Permit
	name string
}

// Resource implements lock.Lease.
func (s slot) Resource() string { return s.name }

// slotOf is the number of the slot that a lease is for; -1 for a lock.
func slotOf(l lock.Lease) int {
	if s, ok := l.(slot); ok {
		return s.Slot()
	}
	return -1
}

// side is one side of a read/write lock.
type side struct {
	lock   *rwlock.RWLock
	shared bool
}

// Acquire implements lock.Locker.
func (s side) Acquire(ctx context.Context, _ string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if s.shared {
		return s.lock.RLock(ctx, opts...)
	}
	return s.lock.Lock(ctx, opts...)
}
