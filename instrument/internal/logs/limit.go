package logs

import (
	"sync"
	"time"
)

// maxKinds bounds the remembered kinds. The one silent for longest makes room.
const maxKinds = 4096

// kind identifies records for the limit: what happened, why, and to what.
type kind struct{ msg, reason, about string }

// pass lets one record through.
type pass struct {
	kind
	first   bool // of its kind
	leftOut int  // records of its kind since the one before
}

// limit lets one record of a kind through per interval, because an outage causes thousands.
type limit struct {
	every time.Duration // zero or less: no limit

	mu    sync.Mutex
	kinds map[kind]*lastTold
}

type lastTold struct {
	at      time.Time
	leftOut int
}

// admit reports whether a record may pass. The first of a kind always may.
func (l *limit) admit(k kind, now time.Time) (p pass, ok bool) {
	if l.every <= 0 {
		return pass{kind: k}, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	told := l.kinds[k]
	switch {
	case told == nil:
		l.makeRoom()
		l.kinds[k] = &lastTold{at: now}
		return pass{kind: k, first: true}, true
	case now.Sub(told.at) < l.every:
		told.leftOut++
		return p, false
	}
	p = pass{kind: k, leftOut: told.leftOut}
	told.at, told.leftOut = now, 0
	return p, true
}

func (l *limit) makeRoom() {
	if len(l.kinds) < maxKinds {
		return
	}
	var oldest kind
	var at time.Time
	for k, told := range l.kinds {
		if at.IsZero() || told.at.Before(at) {
			oldest, at = k, told.at
		}
	}
	delete(l.kinds, oldest)
}
