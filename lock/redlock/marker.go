package redlock

import (
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// MarkerKey is where a server carries the proof that it remembers its locks, in the
// database of the locks.
const MarkerKey = guard.MarkerKey

// MarkerState is what is said at [MarkerKey] of the process that has it.
type MarkerState int

// What a marker says.
const (
	MarkerNone        MarkerState = iota // there is none: nobody asked for its vote yet, or it was flushed
	MarkerVoting                         // this process votes for the configuration named
	MarkerQuarantined                    // it may have forgotten locks, and keeps silent
	MarkerChanging                       // it keeps silent, for a change of the configuration is not finished
	// it is about another process, or of before this one evicted keys: it has to be verified anew
	MarkerLeftover
)

// String is the state in a word.
func (s MarkerState) String() string {
	words := [...]string{"none", "voting", "quarantine", "changing", "leftover"}
	if s < 0 || int(s) >= len(words) {
		return strconv.Itoa(int(s))
	}
	return words[s]
}

// Marker is what the value at [MarkerKey] says.
type Marker struct {
	State         MarkerState
	Configuration string // that it votes for, or will: the wording of [ErrOtherConfiguration]
	Identity      string // of a quarantine: see [VouchRestarted]
	read          guard.Marker
}

// ReadMarker reads the value at [MarkerKey] of the server of this incarnation, as package
// redisinfo reports it: its run_id, and how many keys it has evicted. db is the database of
// the locks; "" is no marker. It takes any value and never fails.
func ReadMarker(value, incarnation string, db int) Marker {
	if value == "" {
		return Marker{}
	}
	read, ok := guard.ParseMarker(value)
	m := Marker{State: MarkerLeftover, read: read}
	if !ok || incarnation == "" || read.RunID != incarnation || read.DB != strconv.Itoa(db) {
		return m
	}
	m.Configuration, m.Identity = read.Fingerprint.String(), read.Identity
	switch read.State {
	case guard.Voting:
		m.State = MarkerVoting
	case guard.Quarantined:
		m.State = MarkerQuarantined
	case guard.Changing:
		m.State = MarkerChanging
	}
	return m
}

// Of reports whether the marker is of the configuration of nodes with these names, and
// this longest TTL.
func (m Marker) Of(names []string, maxTTL time.Duration) bool {
	return m.read.Fingerprint == guard.NewFingerprint(names, maxTTL)
}

// Left is how long a quarantine still lasts at least, by the clock now, for who has this
// longest TTL. It ends when somebody asks for the node's vote after that.
func (m Marker) Left(maxTTL time.Duration, now time.Time) time.Duration {
	if m.State != MarkerQuarantined {
		return 0
	}
	return m.read.Left(Quarantine(maxTTL), now)
}

// minQuarantine leaves room for what a clock may be off when fences go on from it.
const minQuarantine = 15 * time.Second

// Quarantine is how long a server that may have forgotten locks does not vote, where the
// longest TTL is maxTTL: until none of them can be valid, and at least 15 seconds.
func Quarantine(maxTTL time.Duration) time.Duration {
	return max(maxTTL+engine.Drift(maxTTL), minQuarantine)
}
