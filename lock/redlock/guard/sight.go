package guard

import (
	"time"
)

// Sight is the state of a server as one connection saw it when it was opened. The script that votes
// compares it with the server's marker: a process that took the server's place, or a copy of another
// server's data, has another run_id.
//
// The zero value is the sight of a connection that was not examined: no server votes on it.
type Sight struct {
	runID       string
	incarnation string // of the process: with a key that it evicts it becomes another
	db          int
	fingerprint Fingerprint
	expected    string // marker; "" of a connection that was not examined
	unchecked   bool   // the server votes unless its marker is of another set of three nodes or more
	marked      bool   // its marker identifies it, not a run_id
}

// unexamined matches no marker.
const unexamined = "unexamined"

// Expected returns the last argument of acquire.lua on this connection: the marker that the server
// needs to vote. If it needs none, it is the fingerprint, so that a server of a larger set refuses;
// "" if the server votes for anybody.
func (s Sight) Expected() string {
	switch {
	case s.unchecked:
		return string(s.fingerprint)
	case s.expected == "":
		return unexamined
	}
	return s.expected
}

// Fingerprint returns the argument of extend.lua before the last: "" if any configuration will do. It is
// set even if the server's run_id is unknown, so leases are extended there too.
func (s Sight) Fingerprint() string {
	if s.fingerprint == "" && !s.unchecked {
		return unexamined
	}
	return string(s.fingerprint)
}

// RunID returns the run_id of the server's process; "" if unknown.
func (s Sight) RunID() string { return s.runID }

// Ask holds the arguments of quarantine.lua that do not depend on the connection.
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
	AnswerOther       = -1 // the server votes for another configuration
	AnswerQuarantined = 0
	AnswerVotes       = 1
	AnswerChanging    = 2 // a change of the configuration was begun and not finished
)

// QuarantineArgs returns the arguments of quarantine.lua on this connection. now is the caller's clock
// when it sends: an earlier time would end a quarantine early.
func (s Sight) QuarantineArgs(a Ask, now time.Time) []any {
	return []any{string(s.fingerprint), s.incarnation, s.db, now.UnixMilli(), millis(a.Length), a.Nonce, a.Known}
}
