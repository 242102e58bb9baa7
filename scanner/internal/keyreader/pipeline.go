package keyreader

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// aboutKey reports whether an error is about the key: its type, that it is gone, or that its slot is not this
// server's.
func aboutKey(err error) bool {
	return err == redis.Nil || redis.HasErrorPrefix(err, "WRONGTYPE") || isRedirection(err)
}

// isRedirection reports whether the server cannot answer for the key: its slot is another's, moving, or nobody's.
func isRedirection(err error) bool {
	for _, prefix := range []string{"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN Hash slot not served"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// movedSlot reads the slot from MOVED 3999 127.0.0.1:6381.
func movedSlot(err error) (slot int, ok bool) {
	if !redis.HasErrorPrefix(err, "MOVED") {
		return 0, false
	}
	words := strings.Fields(err.Error())
	if len(words) < 2 {
		return 0, false
	}
	slot, err = strconv.Atoi(words[1])
	return slot, err == nil
}

// Execute sends a pipeline. It fails if there is no answer, or an answer that is not about a key. The caller reads
// the answers about keys.
func Execute(ctx context.Context, pipe redis.Pipeliner) error {
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
