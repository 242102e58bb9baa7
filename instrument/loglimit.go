package instrument

import (
	"sync"
	"time"
)

// maxLogKinds bounds the kinds that are remembered: those that said nothing for longest make room.
const maxLogKinds = 4096

// logKind is what records are limited by: what happened, why, and to what.
type logKind struct{ msg, reason, about string }

// logPass lets one record through.
type logPass struct {
	logKind
	first   bool // of its kind
	leftOut int  // records of its kind since the one before
}

// logLimit lets a kind of record through once in a while: in an outage thousands say the same.
type logLimit struct {
	every time.Duration // zero or less: no limit

	mu    sync.Mutex
	kinds map[logKind]*logTold
}

type logTold struct {
	last    time.Time
	leftOut int
}

// admit reports whether a record may pass. The first of a kind always may.
func (l *logLimit) admit(k logKind, now time.Time) (p logPass, ok bool) {
	if l.every <= 0 {
		return logPass{logKind: k}, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	told := l.kinds[k]
	switch {
	case told == nil:
		l.makeRoom()
		l.kinds[k] = &logTold{last: now}
		return logPass{logKind: k, first: true}, true
	case now.Sub(told.last) < l.every:
		told.leftOut++
		return p, false
	}
	p = logPass{logKind: k, leftOut: told.leftOut}
	told.last, told.leftOut = now, 0
	return p, true
}

func (l *logLimit) makeRoom() {
	if len(l.kinds) < maxLogKinds {
		return
	}
	var oldest logKind
	var at time.Time
	for k, told := range l.kinds {
		if at.IsZero() || told.last.Before(at) {
			oldest, at = k, told.last
		}
	}
	delete(l.kinds, oldest)
}
