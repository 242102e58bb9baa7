package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// MarkerKey is the key of a server's marker, in the database of the locks.
const MarkerKey = "lockscope:life"

// State is the state of a server according to its marker.
type State string

// The states. A marker with any other state counts as none.
const (
	Voting      State = "voting"     // it remembers, and votes for the configuration named
	Quarantined State = "quarantine" // it may have forgotten: both clocks are counted
	Changing    State = "changing"   // a change to the configuration named is not finished: it never ends by itself
)

// Marker is the value at [MarkerKey], as the scripts write it. A marker with the run_id or database of
// another server was copied from there, and counts as none.
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

// Prefixes of identities; mark.lua reads the first two.
const (
	changeNonce = "change-" // a mark of a change
	vouchNonce  = "vouch-"  // a quarantine that a vouch began
	// leftNonce marks a node that a finished change removed from the set.
	leftNonce = "left-"
	// newNonce begins a quarantine on a server without any marker: it never voted, or lost
	// everything. It is for messages; no script reads it.
	newNonce = "new-"
)

// HasLeft reports whether a change has removed the node from its set. It votes for none until another change adds it.
func (m Marker) HasLeft() bool {
	return m.State == Changing && strings.HasPrefix(m.Identity, leftNonce)
}

// isFresh reports whether a quarantine began on a server without a marker. A vouch marks only such
// servers.
func isFresh(identity string) bool {
	return strings.HasPrefix(identity, newNonce) || strings.HasPrefix(identity, vouchNonce)
}

// longestMillis bounds a length to what a Duration can hold. The server may hold any number.
const longestMillis = int64(math.MaxInt64 / time.Millisecond)

// ParseMarker parses a marker. ok is false for "" and for values that are not markers.
func ParseMarker(value string) (m Marker, ok bool) {
	fields := strings.Split(value, "|")
	if len(fields) < 4 {
		return Marker{}, false
	}
	m = Marker{State: State(fields[0]), Fingerprint: Fingerprint(fields[1]), RunID: fields[2], DB: fields[3]}
	if m.State == Voting && len(fields) == 4 {
		return m, true
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
	m.Identity, m.Length = fields[4], time.Duration(min(numbers[0], longestMillis))*time.Millisecond
	if numbers[1] > 0 {
		m.Node, m.Caller = time.UnixMilli(numbers[1]), time.UnixMilli(numbers[2])
	}
	return m, true
}

// Left returns how long a quarantine of at least this length still lasts, on the callers' clock. By the
// node's clock it may last longer.
func (m Marker) Left(length time.Duration, now time.Time) time.Duration {
	length = max(length, m.Length)
	if m.Caller.IsZero() {
		return length
	}
	return min(max(0, length-now.Sub(m.Caller)), length)
}

// votingMarker returns the marker of a server that votes for a configuration.
func votingMarker(f Fingerprint, runID string, db int) string {
	return string(Voting) + "|" + string(f) + "|" + runID + "|" + strconv.Itoa(db)
}

// Fingerprint identifies a configuration: the names of the nodes and the longest TTL. Two
// configurations that differ could each have a quorum of their own, or end each other's quarantine
// too early.
type Fingerprint string

// NewFingerprint returns the fingerprint of a configuration. The order of names does not matter.
func NewFingerprint(names []string, maxTTL time.Duration) Fingerprint {
	sorted := slices.Sorted(slices.Values(names))
	ms := maxTTL.Milliseconds()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", ms, strings.Join(sorted, "\n")))
	return Fingerprint(fmt.Sprintf("%d:%d:%s", len(sorted), ms, hex.EncodeToString(sum[:6])))
}

// String returns the number of nodes, the longest TTL and a hash of the names. Anybody who can write to the server can
// write a fingerprint, and people read it in a terminal: one of another form is quoted.
func (f Fingerprint) String() string {
	m := fingerprintForm.FindStringSubmatch(string(f))
	if m == nil {
		return strconv.Quote(string(f))
	}
	ms, _ := strconv.ParseInt(m[2], 10, 64) // digits only, few of them
	return fmt.Sprintf("%s nodes, max TTL %v, names %s", m[1], time.Duration(ms)*time.Millisecond, m[3])
}

var fingerprintForm = regexp.MustCompile(`^(\d{1,9}):(\d{1,12}):([0-9a-f]{1,64})$`)

// limits returns the fingerprint without the hash of the names.
func (f Fingerprint) limits() string {
	return string(f[:max(strings.LastIndexByte(string(f), ':'), 0)])
}

// Nodes returns how many nodes the configuration has; 0 if it does not say.
func (f Fingerprint) Nodes() int {
	digits, _, _ := strings.Cut(string(f), ":")
	n, _ := strconv.Atoi(digits)
	return n
}

// ErrOtherConfiguration means that a node votes for another set of nodes, or another MaxTTL.
var ErrOtherConfiguration = driver.NewError(driver.Misconfigured, "node votes for another configuration")

// errUnfinished is the error of a node that a change has marked.
var errUnfinished = fmt.Errorf("%w: a change to this configuration is not finished: run the same "+
	`"lockscope reconfigure" or redlock.Reconfigure again to finish it, or with the old and the new `+
	"configuration swapped to undo it", driver.ErrQuarantined)

// whyLeft is the error of a node that a change has removed from its set.
func (m Marker) whyLeft() error {
	return fmt.Errorf("it left its set by a change to %v: name the nodes of that configuration", m.Fingerprint)
}

func otherConfiguration(theirs Marker, ours Fingerprint) error {
	if theirs.HasLeft() {
		return fmt.Errorf("%w: %w", ErrOtherConfiguration, theirs.whyLeft())
	}
	if n, named := max(theirs.Fingerprint.Nodes(), theirs.From.Nodes()), ours.Nodes(); n >= EnforcedFrom && named < EnforcedFrom {
		return fmt.Errorf("%w: this node votes for a set of %d nodes, you named %d: name all %d, as the other processes "+
			`do; to take the node out of its set, use "lockscope reconfigure"`, ErrOtherConfiguration, n, named, n)
	}
	if theirs.State == Changing {
		return fmt.Errorf("%w: it changed from %v, which this process has, to %v: stop the processes with the old one; "+
			`if that change was not finished, undo it with "lockscope reconfigure" and both swapped`,
			ErrOtherConfiguration, ours, theirs.Fingerprint)
	}
	if theirs.Fingerprint.limits() == ours.limits() {
		return fmt.Errorf("%w: it has as many nodes and the same max TTL, but other names: a host name and its address "+
			"are two names. Use the names that the other processes use (WithNodeNames, --node-names)",
			ErrOtherConfiguration)
	}
	return fmt.Errorf("%w: its configuration is %v, and this process has %v: stop the processes with the old one, "+
		`or change it with "lockscope reconfigure" or redlock.Reconfigure`, ErrOtherConfiguration, theirs.Fingerprint,
		ours)
}

// millis rounds up, so that no quarantine ends early.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// OfChange reports whether a change of the configuration began this quarantine. It keeps the vote of a node that forgot
// nothing: leases of the old nodes can be valid. See marker.lua.
func (m Marker) OfChange() bool {
	return m.State == Quarantined && strings.HasPrefix(m.Identity, changeNonce)
}
