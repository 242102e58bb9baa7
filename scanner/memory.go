package scanner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
)

// memory is what the Scanner knows from sweep to sweep, and keeps in a Store if it has one. All but the registry
// belongs to the running sweep.
type memory struct {
	store    Store
	settings *sweep.Settings
	sources  []*node.Source
	others   []string // names of what is read in place of sources

	findings *registry.Findings
	sweeps   *sweep.Memory

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
		if file, ok := m.store.(registry.File); ok && err != nil {
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
	state, err := registry.Decode(data, m.settings.Now())
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
	m.findings.Restore(slices.DeleteFunc(state.Entries, func(e registry.Entry) bool { return !known[e.Source] }))
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
	if at := sha256.Sum256(before); before != nil && at != m.stored && registry.Writer(before) != m.writer {
		m.stored = at
		return ErrMemoryShared
	}
	data, err := registry.Encode(registry.State{
		Digest: m.sweeps.Digest(), Watches: m.sweeps.Save(), Entries: m.findings.All(), Writer: m.writer,
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

// Store keeps between processes what a Scanner knows of holders and findings; see [WithMemory]. A Scanner calls its
// Store from one goroutine at a time.
type Store interface {
	// Load returns the data of the last Save, or nil without an error if there was none.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces the data. If it fails or is interrupted, the old data stays.
	Save(ctx context.Context, data []byte) error
}

// FileStore keeps the memory in a file that only its owner may read. Save writes and syncs a temporary file next to it
// and renames that: a crash or a full disk leaves the old file or the new one. Save also removes temporary files of
// processes that died an hour ago or more. Each process needs its own file: if several use one, each reports
// [ErrMemoryShared], and the file contains what one of them knows.
func FileStore(path string) Store { return registry.File(path) }

// RedisStore keeps the memory in Redis for a week, under lockscope:scanner:memory:NAME on each of the servers.
// Processes that elect a leader need it, so that the next leader knows what the last one knew.
//
// Load returns the newest data. Save succeeds if at least one server stores it. Either fails if no server answers. The
// user needs +get and +set on that key. RedisStore does not close the clients.
func RedisStore(clients []redis.UniversalClient, name string) Store {
	return registry.NewRedis(clients, name)
}

// MemoryError reports that the store of [WithMemory] could not be read or written. The sweep was done all the same,
// but may take longer to find locks that are held too long.
type MemoryError struct {
	Op  string // "load" or "save"
	Err error
}

func (e *MemoryError) Error() string { return fmt.Sprintf("scanner: %s memory: %v", e.Op, e.Err) }

// Unwrap returns the Store's own error.
func (e *MemoryError) Unwrap() error { return e.Err }

// ErrMemoryShared reports a Store in which another process has saved since this one last read or wrote it. This save
// leaves that data alone. The next one replaces it, unless the other process saves again.
var ErrMemoryShared = errors.New("another process saves to the same store: give each process its own (--state), " +
	"or let them take turns (--elect)")
