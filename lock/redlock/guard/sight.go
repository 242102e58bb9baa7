package guard

import (
	"time"
)

// Sight is what one connection saw of its server when it was made. Whatever the
// connection carries is compared with it, in the script that votes: a process that
// took the server's place, or a copy of another's data, has another run_id.
//
// The zero value is of a connection that was not examined: no server votes on it.
type Sight struct {
	runID       string
	incarnation string // of the process: with a key that it evicts it becomes another
	db          int
	fingerprint Fingerprint
	expected    string // marker; "" of a connection that was not examined
	unchecked   bool   // the server votes whatever its marker says
}

// unexamined matches no marker.
const unexamined = "unexamined"

// Expected is the last argument of acquire.lua on this connection: the marker that lets
// the server vote, or "" if it votes anyway.
func (s Sight) Expected() string {
	switch {
	case s.unchecked:
		return ""
	case s.expected == "":
		return unexamined
	}
	return s.expected
}

// Fingerprint is the last argument of extend.lua: "" if any configuration will do. It is
// known also where the server's run_id is not: leases end no sooner for that.
func (s Sight) Fingerprint() string {
	switch {
	case s.unchecked:
		return ""
	case s.fingerprint == "":
		return unexamined
	}
	return string(s.fingerprint)
}

// RunID is of the server's process; "" if it is not known.
func (s Sight) RunID() string { return s.runID }

// Ask are the arguments of quarantine.lua, beside those of the connection that carries it.
type Ask struct {
	Length time.Duration // of the quarantine, at least
	Nonce  string        // of a quarantine that begins
	Known  string        // identity of the quarantine that was read before; "" if none was
}

// Answer is the reply of quarantine.lua.
type Answer struct {
	Code   int // one of those below
	Marker string
	Left   time.Duration // of a quarantine
}

// The codes of an answer.
const (
	AnswerOther       = -1 // it votes for another configuration
	AnswerQuarantined = 0
	AnswerVotes       = 1
	AnswerChanging    = 2 // a change of the configuration was begun and not finished
)

// QuarantineArgs are the arguments of quarantine.lua on this connection. now is the
// caller's clock at the moment of sending: an older instant would end a quarantine early.
func (s Sight) QuarantineArgs(a Ask, now time.Time) []any {
	return []any{string(s.fingerprint), s.incarnation, s.db, now.UnixMilli(), millis(a.Length), a.Nonce, a.Known}
}

// DB is the number of the database of the locks.
func (s Sight) DB() int { return s.db }
