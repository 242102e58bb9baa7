package scanner

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/digest"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/sight"
)

// recallVersion is that of what a Store is given. Another version's is not read, and not
// replaced.
const recallVersion = 1

// ErrMemoryVersion says that a Store has what another version of the scanner wrote.
var ErrMemoryVersion = errors.New("it is another version's: give this one a store of its own")

// saved is what a Store is given. It has keys, but no value and no token: digests stand for
// them, which are good for telling whether a value is the same.
type saved struct {
	Version  int                   `json:"version"`
	Saved    time.Time             `json:"saved"`
	Salt     []byte                `json:"salt"`
	Watches  map[string]savedWatch `json:"watches"` // by source
	Findings []savedFinding        `json:"findings"`
}

type savedWatch struct {
	Nodes   []savedRound `json:"nodes"`
	Watched []byte       `json:"watched"` // savedHolders, longest held first
}

type savedRound struct {
	Node string    `json:"node"`
	Done time.Time `json:"done,omitzero"`
}

// savedHolder has a fixed size. Times and durations are in milliseconds, 0 for none.
type savedHolder struct {
	Key, Identity              uint64
	First, Whole, Last, Expiry int64
	Longest                    int64
	Count, Looks, Node         int32
}

type savedFinding struct {
	Source, Node, Type, Evidence string
	Key                          []byte
	Class                        Class
	TTL                          time.Duration
	Hold                         Hold
	FirstSeen, LastSeen, Since   time.Time
	Confirmed                    bool
	Value                        string // digest of its identity
}

// recollection is what the Scanner remembers of what it has loaded and saved.
type recollection struct {
	loaded bool
	saved  time.Time
	stale  atomic.Bool // another process may have saved since
}

// recall loads what earlier processes knew, until that has succeeded once.
func (s *Scanner) recall(ctx context.Context) error {
	if s.recollection.stale.Swap(false) {
		s.recollection.loaded = false
	}
	if s.cfg.store == nil || s.recollection.loaded {
		return nil
	}
	data, err := s.cfg.store.Load(ctx)
	if err == nil && data != nil {
		err = s.restore(data)
	}
	if err != nil {
		return &MemoryError{Op: "load", Err: err}
	}
	s.recollection.loaded = true
	return nil
}

func (s *Scanner) restore(data []byte) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return fmt.Errorf("it is damaged, remove it: %w", err)
	}
	if from.Version != recallVersion {
		return fmt.Errorf("version %d: %w", from.Version, ErrMemoryVersion)
	}
	m := newMemory()
	m.digest = digest.Salted(from.Salt)
	known := make(map[string]bool)
	for _, src := range s.sources {
		known[src.Name] = true
		if w, ok := from.Watches[src.Name]; ok {
			if err := m.watch(src, &s.cfg).restore(w); err != nil {
				return err
			}
		}
	}
	s.memory = m
	s.ledger.Restore(restoreFindings(m.digest, from.Findings, known))
	return nil
}

// remember saves what is known after a sweep: when findings have changed, or else now and
// then. What was not loaded is not replaced.
func (s *Scanner) remember(ctx context.Context, changed bool) error {
	if s.cfg.store == nil || !s.recollection.loaded || ctx.Err() != nil {
		return nil
	}
	now := s.cfg.now()
	if !changed && now.Sub(s.recollection.saved) < min(s.cfg.rules.LeastHold()/10, rememberEvery) {
		return nil
	}
	to := saved{Version: recallVersion, Saved: now, Salt: s.memory.digest.Salt(), Watches: make(map[string]savedWatch)}
	for src, w := range s.memory.watches {
		to.Watches[src.Name] = w.save()
	}
	to.Findings = saveFindings(s.memory.digest, s.ledger.All())
	data, err := json.Marshal(to)
	if err == nil {
		err = s.cfg.store.Save(ctx, data)
	}
	if err != nil {
		return &MemoryError{Op: "save", Err: err}
	}
	s.recollection.saved = now
	return nil
}

// rememberEvery is how often what is known is saved at least while sweeps go on.
const rememberEvery = 5 * time.Minute

func (w *watch) save() savedWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	var to savedWatch
	for _, r := range w.rounds {
		to.Nodes = append(to.Nodes, savedRound{r.node, r.done})
	}
	holders := make([]savedHolder, 0, len(w.seen))
	for k, e := range w.seen {
		holders = append(holders, savedHolder{
			Key: k, Identity: e.identity, First: millis(e.first), Whole: millis(e.whole), Last: millis(e.last), Expiry: millis(e.expiry),
			Longest: e.longest.Milliseconds(), Count: int32(e.count), Looks: int32(e.looks), Node: int32(e.node),
		})
	}
	slices.SortFunc(holders, func(a, b savedHolder) int { return int(a.First - b.First) })
	to.Watched, _ = binary.Append(nil, binary.LittleEndian, holders) // of fixed size: it cannot fail
	return to
}

func (w *watch) restore(from savedWatch) error {
	size := binary.Size(savedHolder{})
	holders := make([]savedHolder, min(len(from.Watched)/size, w.limit))
	if err := binary.Read(bytes.NewReader(from.Watched), binary.LittleEndian, holders); err != nil {
		return fmt.Errorf("it is damaged, remove it: %w", err)
	}
	for _, r := range from.Nodes {
		w.rounds = append(w.rounds, watchRound{node: r.Node, number: 1, done: r.Done})
	}
	for _, h := range holders {
		e := watched{
			identity: h.Identity, first: atMillis(h.First), whole: atMillis(h.Whole), last: atMillis(h.Last), expiry: atMillis(h.Expiry),
			longest: time.Duration(h.Longest) * time.Millisecond, count: int(h.Count), looks: int(h.Looks), node: int(h.Node),
		}
		if e.node >= len(w.rounds) || e.node < 0 {
			e.node = adrift
		}
		w.seen[h.Key] = e
		w.holders[e.identity]++
	}
	w.settle()
	return nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func atMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
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
			Source: f.Source, Node: f.Node, Type: f.Type, Evidence: f.Evidence, Key: []byte(f.Key), Class: f.Class, TTL: f.TTL, Hold: f.Hold,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Since: f.Since, Confirmed: f.Confirmed, Value: value,
		})
	}
	return all
}

// restoreFindings makes entries of those of the known sources.
func restoreFindings(d digest.Digest, from []savedFinding, known map[string]bool) []ledger.Entry {
	var all []ledger.Entry
	for _, s := range from {
		if !known[s.Source] {
			continue
		}
		all = append(all, ledger.Entry{
			Finding: Finding{
				Class: s.Class, Node: s.Node, Key: string(s.Key), Type: s.Type, TTL: s.TTL, Hold: s.Hold, Evidence: s.Evidence,
				FirstSeen: s.FirstSeen, LastSeen: s.LastSeen, Confirmed: s.Confirmed,
			},
			Facts: sight.Facts{Since: s.Since, Source: s.Source, Recalled: sight.Recalled{Digest: d, Value: s.Value}},
		})
	}
	return all
}
