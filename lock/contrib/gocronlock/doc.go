// Package gocronlock makes schedulers of github.com/go-co-op/gocron/v2 in several processes run each job in one of
// them.
//
//	scheduler, err := gocron.NewScheduler(
//		gocron.WithDistributedLocker(gocronlock.NewLocker(locker, lock.MaxHold(time.Hour))))
//
// [NewLocker] locks each run of a job: whichever process gets the lock runs it, the others skip that run. [Elector]
// has one process run all jobs for as long as it leads.
//
// # What gocron does not do
//
// A job is not told that its lock is lost. gocron gives it a context of its own, and goes on running it. Take the
// lock inside the job, with lock.Do, if the work must stop then. Writes that must not come late carry a fencing
// token.
//
// When a scheduler shuts down, gocron cancels the context that it gave to the locker while jobs still run. A lock
// that hangs on that context is released in the middle of the work. The locks of this package do not: they are
// renewed until the job returns, or until lock.MaxHold.
//
// The lock of a job that takes a millisecond is free again before the clock of another process says that it is time.
// Then that process also runs the job. With lock.MinHold among the options of NewLocker it does not: give it a time that is
// longer than the clocks differ, and shorter than the interval of the jobs. An Elector has no such problem.
package gocronlock
