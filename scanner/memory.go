package scanner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/recall"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
)

// memory is what the Scanner knows from sweep to sweep, and keeps in a Store if it has one. All but the ledger
// belongs to the running sweep.
type memory struct {
	store    Store
	settings *sweep.Settings
	sources  []*node.Source
	others   []string // names of what is read in place of sources

	ledger *ledger.Ledger
	sweeps *sweep.Memory

	loaded  bool
	saved   time.Time
	unsaved bool              // findings have changed since
	writer  string            // tells what this process saved from what others did
	stored  [sha256.Size]byte // digest of what the store had when this process last read or wrote it
	stale   atomic.Bool       // another process may have saved since
}

// recall loads what earlier processes knew, until that has succeeded once.
func (m *memory) recall(ctx context.Context) error {
	if m.stale.Swap(false) {
		m.loaded = false
	}
	if m.store == nil || m.loaded {
		return nil
	}
	data, err := m.store.Load(ctx)
	if err == nil && data != nil {
		err = m.restore(data)
		if file, ok := m.store.(recall.File); ok && err != nil {
			err = fmt.Errorf("%s: %w", string(file), err)
		}
	}
	if err != nil {
		return &MemoryError{Op: "load", Err: err}
	}
	m.loaded, m.stored = true, sha256.Sum256(data)
	return nil
}

// restore takes up what concerns the current sources.
func (m *memory) restore(data []byte) error {
	state, err := recall.Decode(data, m.settings.Now())
	if err != nil {
		return err
	}
	sweeps, err := sweep.RestoreMemory(state.Digest, state.Watches, m.sources, m.settings)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, name := range m.others {
		known[name] = true
	}
	for _, src := range m.sources {
		known[src.Name] = true
	}
	m.sweeps = sweeps
	m.ledger.Restore(slices.DeleteFunc(state.Entries, func(e ledger.Entry) bool { return !known[e.Source] }))
	return nil
}

// remember saves what is known after a sweep: when findings have changed, or else now and then. It never replaces
// data that it could not load.
func (m *memory) remember(ctx context.Context, changed bool) error {
	if m.store == nil || !m.loaded || ctx.Err() != nil {
		return nil
	}
	now := m.settings.Now()
	m.unsaved = m.unsaved || changed
	if !m.unsaved && now.Sub(m.saved) < min(m.settings.Rules.LeastHold()/10, rememberEvery) {
		return nil
	}
	if err := m.save(ctx, now); err != nil {
		return &MemoryError{Op: "save", Err: err}
	}
	m.saved, m.unsaved = now, false
	return nil
}

// save replaces what is stored, unless another process has saved since this one last read or wrote it. Then it leaves
// that once, and says so: the next save goes on from there.
func (m *memory) save(ctx context.Context, now time.Time) error {
	before, err := m.store.Load(ctx)
	if err != nil {
		return err
	}
	if at := sha256.Sum256(before); before != nil && at != m.stored && recall.Writer(before) != m.writer {
		m.stored = at
		return ErrMemoryShared
	}
	data, err := recall.Encode(recall.State{
		Digest: m.sweeps.Digest(), Watches: m.sweeps.Save(), Entries: m.ledger.All(), Writer: m.writer,
	}, now)
	if err == nil {
		err = m.store.Save(ctx, data)
	}
	if err == nil {
		m.stored = sha256.Sum256(data)
	}
	return err
}

// rememberEvery is the longest time between two saves while sweeps go on.
const rememberEvery = 5 * time.Minute
