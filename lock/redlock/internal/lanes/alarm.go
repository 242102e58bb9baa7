package lanes

import "time"

// alarm goes off by the earliest deadline that it is given. The mutex of the pool guards it.
type alarm struct {
	at    time.Time // zero if it does not go off
	timer *time.Timer
}

// newAlarm is one that does not go off yet.
func newAlarm(ring func()) alarm {
	t := time.AfterFunc(time.Hour, ring)
	t.Stop()
	return alarm{timer: t}
}

// by makes it go off by the deadline.
func (a *alarm) by(deadline time.Time) {
	if a.at.IsZero() || deadline.Before(a.at) {
		a.at = deadline
		a.timer.Reset(time.Until(deadline))
	}
}

// rang forgets the deadline that it went off for.
func (a *alarm) rang() { a.at = time.Time{} }

func (a *alarm) stop() { a.timer.Stop() }
