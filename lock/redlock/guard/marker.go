package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// MarkerKey is where a server carries the proof that it remembers, in the database of the locks.
const MarkerKey = "lockscope:life"

// State is what a marker says of its server.
type State string

// The states. Anything else is no marker of this version, and counts as none.
const (
	Voting      State = "voting"     // it remembers, and votes for the configuration named
	Quarantined State = "quarantine" // it may have forgotten: both clocks are counted
	Changing    State = "changing"   // a change to the configuration named is not finished: it never ends by itself
)

// Marker is the value at [MarkerKey], as the scripts write it. Who compares a marker
// with another's run_id or database must take it for none: it was copied from there.
type Marker struct {
	State       State
	Fingerprint Fingerprint
	RunID       string // of the server that has it: the incarnation of its process, see redisinfo
	DB          string

	// Of a quarantine, and of a change:
	Identity string        // distinguishes it from every other
	Length   time.Duration // at least
	Node     time.Time     // when its count began, by the node's clock; zero if it did not yet
	Caller   time.Time     // by the callers'
	From     Fingerprint   // of a change: the configuration that it replaces
}

// How identities begin, as mark.lua knows the first two.
const (
	changeNonce = "change-" // of what a change has marked
	vouchNonce  = "vouch-"  // of a quarantine that a vouch began
	// leftNonce is of a change that is over for a node which is no member any more.
	leftNonce = "left-"
	// newNonce is of a quarantine that began where there was no marker at all: that server
	// never voted, or lost everything. It is for what a person reads, and no script reads it.
	newNonce = "new-"
)

// hasLeft reports that the node was a member before a change that has begun since.
func (m Marker) hasLeft() bool {
	return m.State == Changing && strings.HasPrefix(m.Identity, leftNonce)
}

// isFresh reports that a quarantine began where nothing was known of a vote: also one of a
// vouch, which marks no other server.
func isFresh(identity string) bool {
	return strings.HasPrefix(identity, newNonce) || strings.HasPrefix(identity, vouchNonce)
}

// ParseMarker reads a marker. ok is false for a value that is none, and for "".
func ParseMarker(value string) (m Marker, ok bool) {
	fields := strings.Split(value, "|")
	if len(fields) < 4 {
		return Marker{}, false
	}
	m = Marker{State: State(fields[0]), Fingerprint: Fingerprint(fields[1]), RunID: fields[2], DB: fields[3]}
	if m.State == Voting {
		return m, len(fields) == 4
	}
	switch {
	case m.State == Quarantined && len(fields) == 8:
	case m.State == Changing && len(fields) == 9:
		m.From = Fingerprint(fields[8])
	default:
		return Marker{}, false
	}
	var numbers [3]int64
	for i, text := range fields[5:8] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return Marker{}, false
		}
		numbers[i] = n
	}
	m.Identity, m.Length = fields[4], time.Duration(numbers[0])*time.Millisecond
	if numbers[1] > 0 {
		m.Node, m.Caller = time.UnixMilli(numbers[1]), time.UnixMilli(numbers[2])
	}
	return m, true
}

// Left is how long the quarantine still lasts for who asks for at least so much, by
// the callers' clock alone: the node's may say more.
func (m Marker) Left(length time.Duration, now time.Time) time.Duration {
	length = max(length, m.Length)
	if m.Caller.IsZero() {
		return length
	}
	return min(max(0, length-now.Sub(m.Caller)), length)
}

// votingMarker lets a server vote for a configuration.
func votingMarker(f Fingerprint, runID string, db int) string {
	return string(Voting) + "|" + string(f) + "|" + runID + "|" + strconv.Itoa(db)
}

// Fingerprint distinguishes configurations: sets of nodes, by their names, and the longest
// TTL. Two that differ in either could each have a quorum of its own, or end each other's
// quarantine too early.
type Fingerprint string

// NewFingerprint is the same for the same names in any order.
func NewFingerprint(names []string, maxTTL time.Duration) Fingerprint {
	sorted := slices.Sorted(slices.Values(names))
	ms := maxTTL.Milliseconds()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", ms, strings.Join(sorted, "\n")))
	return Fingerprint(fmt.Sprintf("%d:%d:%s", len(sorted), ms, hex.EncodeToString(sum[:6])))
}

// String is for people: how many nodes, and the longest TTL.
func (f Fingerprint) String() string {
	nodes, rest, _ := strings.Cut(string(f), ":")
	text, hash, _ := strings.Cut(rest, ":")
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || hash == "" {
		return strconv.Quote(string(f))
	}
	return fmt.Sprintf("%s nodes, max TTL %v, names %s", nodes, time.Duration(ms)*time.Millisecond, hash)
}

// ErrOtherConfiguration says that a node votes for another set of nodes, or another MaxTTL.
var ErrOtherConfiguration = driver.NewError(driver.Misconfigured, "node votes for another configuration")

func otherConfiguration(theirs Marker, ours Fingerprint) error {
	if theirs.State == Changing {
		return fmt.Errorf("%w: it left this one, %v, in a change to %v: stop the processes with the old one; "+
			"if that change was not finished, lockscope reconfigure with both exchanged undoes it",
			ErrOtherConfiguration, ours, theirs.Fingerprint)
	}
	return fmt.Errorf("%w: its own is of %v; this process has %v: stop the processes with the old one, "+
		"or change it with lockscope reconfigure or redlock.Reconfigure", ErrOtherConfiguration, theirs.Fingerprint,
		ours)
}

// millis rounds up, so that no quarantine ends early.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
