package scanner

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/recall"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
)

// Store is where a Scanner keeps between processes what it knows of holders and findings:
// see [WithMemory]. A Store is used by one goroutine at a time.
type Store interface {
	// Load returns what Save was given last, and nil without an error if that was never.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces it. If it fails or is interrupted, what was there stays.
	Save(ctx context.Context, data []byte) error
}

// FileStore keeps the memory in a file, which only its owner may read. Save writes another
// file beside it, has the disk keep that, and gives it the name: a crash leaves the old
// file or the new one. Two processes that use one file at a time lose what one of them knew,
// no more.
func FileStore(path string) Store { return recall.File(path) }

// RedisStore keeps the memory in Redis: under lockscope:scanner:memory:NAME on each of the
// servers, for a week. Processes that elect a leader among them need it, so that the next
// one knows what the last one knew. Load takes the newest there is; Save is done when one
// server at least has it. Either fails if no server answers. The user needs +get and +set
// on that key. The clients stay the caller's to close.
func RedisStore(clients []redis.UniversalClient, name string) Store {
	return recall.NewRedis(clients, name)
}

// MemoryError says that what a Scanner knows of holders and findings could not be read or
// kept. The sweep was done all the same; that a holder has its lock for long may take it
// longer to find.
type MemoryError struct {
	Op  string // "load" or "save"
	Err error
}

func (e *MemoryError) Error() string { return fmt.Sprintf("scanner: %s memory: %v", e.Op, e.Err) }

// Unwrap returns the Store's own error.
func (e *MemoryError) Unwrap() error { return e.Err }

// ErrMemoryVersion says that a Store has what another version of the scanner wrote.
var ErrMemoryVersion = recall.ErrVersion

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

// restore takes up what concerns the sources there are.
func (s *Scanner) restore(data []byte) error {
	state, err := recall.Decode(data)
	if err != nil {
		return err
	}
	m, err := sweep.RestoreMemory(state.Digest, state.Watches, s.sources, &s.settings)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, src := range s.sources {
		known[src.Name] = true
	}
	s.memory = m
	s.ledger.Restore(slices.DeleteFunc(state.Entries, func(e ledger.Entry) bool { return !known[e.Source] }))
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
	state := recall.State{Digest: s.memory.Digest(), Watches: s.memory.Save(), Entries: s.ledger.All()}
	data, err := recall.Encode(state, now)
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
