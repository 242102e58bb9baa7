package lanes

import (
	"slices"
	"sync/atomic"
	"time"
)

const (
	// A reply of a server nearby takes no longer than this, and so much for each command.
	nearby     = 300 * time.Microsecond
	perCommand = 20 * time.Microsecond
	// connecting is how long a lane may take to connect before another is used.
	connecting = 10 * time.Millisecond
	// checkIdle is how long a connection may have been idle and still be taken for good
	// without asking its socket.
	checkIdle = time.Millisecond
)

// lane is one connection and the commands that are under way on it.
type lane struct {
	carrier *carrier
	wake    chan struct{}

	// Used by one goroutine at a time: the carrier's, or that of the caller that borrowed the lane.
	conn *connection // nil until it is needed, and after it broke
	used time.Time   // when it carried the last reply
	done []*Command  // those in flight that nobody had answered by the time of the replies

	// Guarded by the mutex of the pool.
	inFlight  []*Command
	began     time.Time // since when
	borrowed  bool      // a caller sends its own command
	isCut     bool      // the connection was closed under it
	connected bool
	skipped   bool // it could not connect: others may take what is waiting

	link atomic.Pointer[connection] // for cut
}

// fresh reports whether the connection is good: not too old, and its socket shows no end.
func (l *lane) fresh() bool {
	idle := time.Since(l.used)
	return !l.conn.isSpent(idle) && (idle <= checkIdle || !l.conn.stale())
}

// cut fails the lane's reads and writes, from another goroutine.
func (l *lane) cut() {
	if c := l.link.Load(); c != nil {
		c.cut()
	}
}

// usual is how long the lane's present work may take before another lane is used. It expects the mutex
// to be held.
func (l *lane) usual() time.Duration {
	if !l.connected {
		return connecting
	}
	return nearby + time.Duration(len(l.inFlight))*perCommand
}

func (l *lane) isConnected() bool { return l.connected }

// idleLanes have nothing to do: those without a connection first; the last is the one used
// last.
type idleLanes []*lane

func (all *idleLanes) put(l *lane) {
	if l.conn != nil {
		*all = append(*all, l)
	} else {
		*all = slices.Insert(*all, 0, l)
	}
}

// last is the one used last; nil if there is none.
func (all idleLanes) last() *lane {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func (all *idleLanes) takeLast() { *all = (*all)[:len(*all)-1] }

func (all *idleLanes) takeFirst() *lane {
	first := (*all)[0]
	*all = slices.Delete(*all, 0, 1)
	return first
}

func (all idleLanes) contains(l *lane) bool { return slices.Contains(all, l) }
