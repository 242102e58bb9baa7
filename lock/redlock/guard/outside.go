package guard

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// EnforcedFrom is the size of a set from which on a node votes only with a marker that proves that it remembers, unless
// services choose otherwise.
const EnforcedFrom = 3

// Account is what a server says of itself to a view that takes no locks.
type Account struct {
	Info   string // reply to INFO; "" if the server did not give it
	Marker string // value of [MarkerKey]; "" if there is none
	DB     int    // of the locks
	Err    error  // why the marker is not known
}

// Standing is whether a node may vote, as its account shows it.
type Standing struct {
	Known       bool // it gave an account
	Err         error
	Quarantined bool          // it may have forgotten locks, and does not vote before its quarantine is over
	Begun       bool          // its quarantine has begun: a service has asked for its vote
	Left        time.Duration // until it is over; zero: the next question ends it
}

// Votes reports whether nothing is known against the node.
func (s Standing) Votes() bool { return s.Err == nil && !s.Quarantined }

// errFull is the error of a server that can take no lock.
var errFull = errors.New("out of memory: it refuses writes")

// Judge says which nodes of one set may vote. set has an account for each node, an empty one for those that do not
// answer. It is what a service would find with its first question, as far as INFO and markers show it: the configuration
// that most nodes vote for counts as the services'. services is how their guards are set: EvictionOK, NoEviction,
// ByMarker and Off count.
func Judge(set []Account, services Config, now time.Time) []Standing {
	votes, ours, marked := make(map[Fingerprint]int), Fingerprint(""), false
	for _, a := range set {
		m, ok := ParseMarker(a.Marker)
		marked = marked || ok
		if ok && m.State == Voting && m.counts(a, services) {
			if votes[m.Fingerprint]++; votes[m.Fingerprint] > votes[ours] {
				ours = m.Fingerprint
			}
		}
	}
	all := make([]Standing, len(set))
	for i, a := range set {
		if a.Info == "" || services.Off {
			continue
		}
		unfit := a.unfit(services)
		if a.Err != nil && unfit == nil {
			continue
		}
		all[i] = Standing{Known: true, Err: unfit}
		if unfit == nil && marked && (len(set) >= EnforcedFrom || a.isOfChange(len(set))) {
			all[i].remember(a, services, ours, now)
		}
	}
	return all
}

// isOfChange reports whether a change to a set of n nodes began the quarantine of this one.
func (a Account) isOfChange(n int) bool {
	m, _ := ParseMarker(a.Marker)
	return m.OfChange() && m.Fingerprint.Nodes() == n
}

// unfit is why a server may not vote whatever it remembers. One that reports no run_id has its identity in its marker,
// if services accept that.
func (a Account) unfit(services Config) error {
	info := redisinfo.Parse(a.Info)
	m, _ := ParseMarker(a.Marker)
	if err := mustBeMaster(info, services.ByMarker || m.IsOf("")); err != nil {
		return err
	}
	if err := mustKeepKeys(info, services.NoEviction); err != nil && !services.EvictionOK {
		return err
	}
	if limit := info.Number("maxmemory"); limit > 0 && info.Number("used_memory") > limit {
		return fmt.Errorf("%w (maxmemory %s)", errFull, info["maxmemory_human"])
	}
	return nil
}

// remember judges the marker of a server that votes only with one.
func (s *Standing) remember(a Account, services Config, ours Fingerprint, now time.Time) {
	m, ok := ParseMarker(a.Marker)
	switch {
	case !ok || !m.counts(a, services):
		s.Quarantined = true
	case m.State == Voting && m.Fingerprint != ours:
		s.Err = fmt.Errorf("%w: %v", ErrOtherConfiguration, m.Fingerprint)
	case m.HasLeft():
		s.Err = m.whyLeft()
	case m.State == Changing:
		s.Err = errUnfinished
	case m.State == Quarantined:
		s.Begun, s.Left = true, m.Left(0, now)
		s.Quarantined = s.Left > 0
	}
}

// counts reports whether a marker says something about the server that has it. A change is finished or undone by who
// began it, whatever became of the process meanwhile.
func (m Marker) counts(a Account, services Config) bool {
	info := redisinfo.Parse(a.Info)
	return m.State == Changing || m.IsOf(memoryOf(info.RunID(), info, services.EvictionOK)) && m.DB == strconv.Itoa(a.DB)
}
