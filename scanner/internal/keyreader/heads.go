package keyreader

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Head is the beginning of a string.
type Head struct {
	Text  string // "" if the key has no string
	Known bool   // false: the server has no say about the key, whose slot is another's
}

// Heads returns the first size bytes of the strings under keys, in their order. It is one pipeline: give it at most
// [Batch] keys. client may be a cluster's; each key is then read on its own master. The error is as for
// [Reader.Page].
func Heads(ctx context.Context, client redis.UniversalClient, keys []string, size int) ([]Head, error) {
	pipe := client.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.Do(ctx, "getrange", key, 0, size-1)
	}
	if err := execute(ctx, pipe, cmds); err != nil {
		return nil, err
	}
	heads := make([]Head, len(keys))
	for i, cmd := range cmds {
		heads[i].Text, _ = cmd.Text() // another type: it has none
		heads[i].Known = !isRedirection(cmd.Err())
	}
	return heads, nil
}
