package keyreader

import (
	"context"

	"github.com/redis/go-redis/v9"
)

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
	if err := executeAll(ctx, pipe); err != nil {
		return nil, err
	}
	pipe = client.Pipeline()
	small := make([]*redis.MapStringStringCmd, len(keys))
	for i, size := range sizes {
		if n := size.Val(); n > 0 && n <= maxCompared {
			small[i] = pipe.HGetAll(ctx, keys[i])
		}
	}
	if err := executeAll(ctx, pipe); err != nil {
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

// executeAll sends a pipeline, and fails as [execute] does.
func executeAll(ctx context.Context, pipe redis.Pipeliner) error {
	cmds, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !aboutKey(err) {
			return err
		}
	}
	if len(cmds) == 0 {
		return err
	}
	return nil
}
