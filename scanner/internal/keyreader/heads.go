package keyreader

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Heads returns the first size bytes of the strings under keys, in their order, ""
// for a key that has none. It is one pipeline: give it no more than [Batch] keys.
// client may be a cluster's, where each key is asked for on its own master. An error
// is as [Reader.Page] has it.
func Heads(ctx context.Context, client redis.UniversalClient, keys []string, size int) ([]string, error) {
	pipe := client.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.Do(ctx, "getrange", key, 0, size-1)
	}
	if err := execute(ctx, pipe, cmds); err != nil {
		return nil, err
	}
	heads := make([]string, len(keys))
	for i, cmd := range cmds {
		heads[i], _ = cmd.Text() // another type, or another server's: it has none
	}
	return heads, nil
}
