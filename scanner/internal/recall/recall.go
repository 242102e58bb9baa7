// Package recall passes knowledge from one process of a scanner to the next: its form (recall.go), and its place in a
// file (file.go) or in Redis (redis.go).
package recall

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/digest"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/report"
)

// version is that of the stored data. Data of another version is neither read nor replaced.
const version = 1

// ErrVersion reports a store with the data of another version of the scanner.
var ErrVersion = errors.New("written by another version of lockscope: use a separate store")

// State is what is kept. It has keys, but no value and no token: digests stand for them, and show whether a value is
// the same.
type State struct {
	Digest  digest.Digest
	Watches map[string]holders.Saved // by source
	Entries []ledger.Entry
}

// saved is a State as it is written.
type saved struct {
	Version  int                      `json:"version"`
	Saved    time.Time                `json:"saved"`
	Salt     []byte                   `json:"salt"`
	Watches  map[string]holders.Saved `json:"watches"` // by source
	Findings []savedFinding           `json:"findings"`
}

type savedFinding struct {
	Source, Node, Type, Evidence string
	Key                          []byte
	Class                        report.Class
	TTL                          time.Duration
	Hold                         report.Hold
	FirstSeen, LastSeen, Since   time.Time
	Confirmed                    bool
	Value                        string // digest of its identity
}

// Encode encodes a state.
func Encode(s State, now time.Time) ([]byte, error) {
	return json.Marshal(saved{
		Version: version, Saved: now, Salt: s.Digest.Salt(), Watches: s.Watches,
		Findings: saveFindings(s.Digest, s.Entries),
	})
}

// Decode decodes a state.
func Decode(data []byte) (State, error) {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return State{}, fmt.Errorf("the stored data is damaged: remove it: %w", err)
	}
	if from.Version != version {
		return State{}, fmt.Errorf("version %d: %w", from.Version, ErrVersion)
	}
	s := State{Digest: digest.Salted(from.Salt), Watches: from.Watches}
	s.Entries = restoreFindings(s.Digest, from.Findings)
	return s, nil
}

// saveFindings writes entries with digests for the identities of their values.
func saveFindings(d digest.Digest, entries []ledger.Entry) []savedFinding {
	all := make([]savedFinding, 0, len(entries))
	for _, f := range entries {
		value := f.Recalled.Value
		if f.Identity != "" {
			value = d.Text(f.Identity)
		}
		all = append(all, savedFinding{
			Source: f.Source, Node: f.Node, Type: f.Type, Evidence: f.Evidence, Key: []byte(f.Key), Class: f.Class,
			TTL:       f.TTL,
			Hold:      f.Hold,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Since: f.Since, Confirmed: f.Confirmed, Value: value,
		})
	}
	return all
}

// restoreFindings makes entries of saved findings.
func restoreFindings(d digest.Digest, from []savedFinding) []ledger.Entry {
	all := make([]ledger.Entry, 0, len(from))
	for _, s := range from {
		all = append(all, ledger.Entry{
			Finding: report.Finding{
				Class: s.Class, Node: s.Node, Key: string(s.Key), Type: s.Type, TTL: s.TTL, Hold: s.Hold,
				Evidence:  s.Evidence,
				FirstSeen: s.FirstSeen, LastSeen: s.LastSeen, Confirmed: s.Confirmed,
			},
			Facts: sight.Facts{Since: s.Since, Source: s.Source, Recalled: sight.Recalled{Digest: d, Value: s.Value}},
		})
	}
	return all
}
