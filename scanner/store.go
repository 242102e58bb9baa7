package scanner

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/recall"
)

// Store keeps between processes what a Scanner knows of holders and findings; see [WithMemory]. A Scanner calls its
// Store from one goroutine at a time.
type Store interface {
	// Load returns the data of the last Save, or nil without an error if there was none.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces the data. If it fails or is interrupted, the old data stays.
	Save(ctx context.Context, data []byte) error
}

// FileStore keeps the memory in a file that only its owner may read. Save writes and syncs a second file beside it
// and renames that: a crash or a full disk leaves the old file or the new one. It removes files beside it that
// processes left which died an hour ago or more. Each process needs a file of its own: of several that use one, each
// reports [ErrMemoryShared], and the file has what one of them knows.
func FileStore(path string) Store { return recall.File(path) }

// RedisStore keeps the memory in Redis for a week, under lockscope:scanner:memory:NAME on each of the servers.
// Processes that elect a leader need it, so that the next leader knows what the last one knew.
//
// Load takes the newest data. Save succeeds when at least one server has it. Either fails if no server answers. The
// user needs +get and +set on that key. The clients stay the caller's to close.
func RedisStore(clients []redis.UniversalClient, name string) Store {
	return recall.NewRedis(clients, name)
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

// ErrMemoryShared reports a Store in which another process has saved since this one last read or wrote it. That data
// stays for this time. The next save replaces it unless the other process goes on saving.
var ErrMemoryShared = errors.New("another process saves to the same store: give each process its own (--state), " +
	"or let them take turns (--elect)")
