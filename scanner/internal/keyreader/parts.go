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
	if err := Execute(ctx, pipe); err != nil {
		return nil, err
	}
	heads := make([]Head, len(keys))
	for i, cmd := range cmds {
		heads[i].Text, _ = cmd.Text() // another type: it has none
		heads[i].Known = !isRedirection(cmd.Err())
	}
	return heads, nil
}

// maxCompared bounds the hashes whose fields [FieldsOf] reads.
const maxCompared = 128

// Fields are those of one hash.
type Fields struct {
	Values map[string]string // by name; nil if the key is no hash
	Known  bool              // false: the hash has more than 128 fields, or the key's slot is another server's
}

// FieldsOf returns the fields of the hashes under keys, in their order. It sends two pipelines: give it at most [Batch]
// keys. client may be a cluster's. The error is as for [Reader.Page].
func FieldsOf(ctx context.Context, client redis.UniversalClient, keys []string) ([]Fields, error) {
	found := make([]Fields, len(keys))
	sizes := make([]*redis.IntCmd, len(keys))
	pipe := client.Pipeline()
	for i, key := range keys {
		sizes[i] = pipe.HLen(ctx, key)
	}
	if err := Execute(ctx, pipe); err != nil {
		return nil, err
	}
	pipe = client.Pipeline()
	small := make([]*redis.MapStringStringCmd, len(keys))
	for i, size := range sizes {
		if n := size.Val(); n > 0 && n <= maxCompared {
			small[i] = pipe.HGetAll(ctx, keys[i])
		}
	}
	if err := Execute(ctx, pipe); err != nil {
		return nil, err
	}
	for i, size := range sizes {
		found[i].Known = !isRedirection(size.Err()) && size.Val() <= maxCompared
		if small[i] != nil {
			found[i].Known = !isRedirection(small[i].Err())
			found[i].Values = small[i].Val()
		}
	}
	return found, nil
}
