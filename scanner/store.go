package scanner

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/recall"
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
