package stored

import (
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// MarkerState is the state of a server according to its marker.
type MarkerState int

// The states of a marker.
const (
	MarkerNone        MarkerState = iota // no marker: no vote was requested yet, or the database was flushed
	MarkerVoting                         // the process votes for the configuration in the marker
	MarkerQuarantined                    // the process may have forgotten locks, and does not vote
	MarkerChanging                       // a change is not finished, or removed the server from its set; no vote
	// MarkerLeftover is the marker of another process, or from before this process evicted
	// keys. The server has to be verified again.
	MarkerLeftover
)

// String returns the state as one word.
func (s MarkerState) String() string {
	words := [...]string{"none", "voting", "quarantine", "changing", "leftover"}
	if s < 0 || int(s) >= len(words) {
		return strconv.Itoa(int(s))
	}
	return words[s]
}

// Marker is the parsed value at [guard.MarkerKey].
type Marker struct {
	State         MarkerState
	Configuration string // that the server votes for, or will; worded as in [redlock.ErrOtherConfiguration]
	Identity      string // of a quarantine: see [redlock.VouchRestarted]
	RunID         string // that it names: an identity of its own, if the server reports no run_id
	read          guard.Marker
}

// ReadMarker parses the value at [guard.MarkerKey]. incarnation identifies the server's process, as package
// redisinfo reports it: run_id and the number of evicted keys; "" if the server reports no run_id, see
// [redlock.WithMarkerIdentity]. db is the database of the locks. An empty value is MarkerNone. ReadMarker accepts any
// value and never fails.
func ReadMarker(value, incarnation string, db int) Marker {
	if value == "" {
		return Marker{}
	}
	read, ok := guard.ParseMarker(value)
	m := Marker{State: MarkerLeftover, read: read}
	// A change is finished or undone by who began it, whatever became of the process meanwhile.
	own := read.IsOf(incarnation) && read.DB == strconv.Itoa(db)
	if !ok || !own && read.State != guard.Changing {
		return m
	}
	m.Configuration, m.Identity, m.RunID = read.Fingerprint.String(), read.Identity, read.RunID
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

// Of reports whether the marker's configuration has nodes with these names and this longest TTL.
func (m Marker) Of(names []string, maxTTL time.Duration) bool {
	return m.read.Fingerprint == guard.NewFingerprint(names, maxTTL)
}

// Left returns how long a quarantine still lasts, at least, for lockers with this longest TTL. It ends
// with the first request for a vote after that time.
func (m Marker) Left(maxTTL time.Duration, now time.Time) time.Duration {
	if m.State != MarkerQuarantined {
		return 0
	}
	return m.read.Left(redlock.Quarantine(maxTTL), now)
}
