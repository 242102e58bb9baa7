package registry

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/report"
)

// version is that of the stored data. Data of another version is neither read nor replaced.
const version = 1

// State is what is kept. It has keys, but no value and no token: digests stand for them, and show whether a value is
// the same.
type State struct {
	Digest  holders.Digest
	Watches map[string]holders.Saved // by source
	Entries []Entry
	Writer  string // the process
}

// saved is a State as it is written.
type saved struct {
	Version  int                      `json:"version"`
	Saved    time.Time                `json:"saved"`
	Writer   string                   `json:"writer,omitempty"`
	Salt     []byte                   `json:"salt"`
	Watches  map[string]holders.Saved `json:"watches"` // by source
	Findings []savedFinding           `json:"findings"`
}

type savedFinding struct {
	Source, Node, Type, Evidence string
	Backend, Place               string `json:",omitempty"` // of other systems than Redis
	Key                          []byte
	Class                        inspect.Class
	TTL                          time.Duration
	Hold                         inspect.Hold
	FirstSeen, LastSeen, Since   time.Time
	Confirmed                    bool
	Inferred                     bool   `json:",omitempty"`
	Policy, Team                 string `json:",omitempty"`
	Value                        string // digest of its identity
}

// Encode encodes a state.
func Encode(s State, now time.Time) ([]byte, error) {
	return json.Marshal(saved{
		Version: version, Saved: now, Writer: s.Writer, Salt: s.Digest.Salt(), Watches: s.Watches,
		Findings: saveFindings(s.Digest, s.Entries),
	})
}

// Writer returns which process has encoded a state, or "".
func Writer(data []byte) string {
	var from struct {
		Writer string `json:"writer"`
	}
	_ = json.Unmarshal(data, &from) // what cannot be read was not written by this process
	return from.Writer
}

// Decode decodes a state. Its times become times of the clock now, which a later step of the wall clock does not move.
// If the wall clock has been set back since the state was encoded, the ages in it stay what they were. A clock that was
// set forward meanwhile looks like a pause between two processes.
func Decode(data []byte, now time.Time) (State, error) {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return State{}, fmt.Errorf("the stored data is damaged: remove it: %w", err)
	}
	if from.Version != version {
		return State{}, fmt.Errorf("version %d: written by another version of lockscope: use a separate store",
			from.Version)
	}
	s := State{Digest: holders.Salted(from.Salt), Watches: from.Watches, Writer: from.Writer}
	from.rebase(now)
	s.Entries = restoreFindings(s.Digest, from.Findings)
	return s, nil
}

// rebase makes all times those of the clock now, but for what a lock's value says of its holder.
func (s *saved) rebase(now time.Time) {
	wall := now.Round(0)
	ahead := max(0, s.Saved.Sub(wall))
	at := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return now.Add(t.Sub(wall) - ahead)
	}
	for source, w := range s.Watches {
		w.Rebase(at)
		s.Watches[source] = w
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		f.FirstSeen, f.LastSeen = at(f.FirstSeen), at(f.LastSeen)
		if !f.Since.Equal(f.Hold.Since) {
			f.Since = at(f.Since)
		}
	}
}

// saveFindings writes entries with digests for the identities of their values.
func saveFindings(d holders.Digest, entries []Entry) []savedFinding {
	all := make([]savedFinding, 0, len(entries))
	for _, f := range entries {
		value := f.Recalled.Value
		if f.Identity != "" {
			value = d.Text(f.Identity)
		}
		all = append(all, savedFinding{
			Source: f.Source, Node: f.Node, Type: f.Type, Evidence: f.Evidence, Backend: f.Backend, Place: f.Place,
			Key: []byte(f.Key), Class: f.Class, TTL: f.TTL, Hold: f.Hold,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Since: f.Since, Confirmed: f.Confirmed, Value: value,
			Inferred: f.Inferred, Policy: f.Policy, Team: f.Team,
		})
	}
	return all
}

// restoreFindings makes entries of saved findings.
func restoreFindings(d holders.Digest, from []savedFinding) []Entry {
	all := make([]Entry, 0, len(from))
	for _, s := range from {
		all = append(all, Entry{
			Finding: report.Finding{
				Class: s.Class, Backend: s.Backend, Node: s.Node, Place: s.Place, Key: string(s.Key), Type: s.Type,
				TTL: s.TTL, Hold: s.Hold, Evidence: s.Evidence,
				FirstSeen: s.FirstSeen, LastSeen: s.LastSeen, Confirmed: s.Confirmed, Inferred: s.Inferred,
				Policy: s.Policy, Team: s.Team,
			},
			Facts: Facts{Since: s.Since, Source: s.Source, Recalled: Recalled{Digest: d, Value: s.Value}},
		})
	}
	return all
}
