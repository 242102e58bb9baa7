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
	return execute(ctx, pipe, func(redis.Cmder) bool { return false })
}

// execute also leaves errors of the optional commands to the caller. If a server refuses a new connection, such as its
// password, go-redis gives the error to no command.
func execute(ctx context.Context, pipe redis.Pipeliner, optional func(redis.Cmder) bool) error {
	cmds, failed := pipe.Exec(ctx)
	for _, cmd := range cmds {
		switch err := cmd.Err(); {
		case err == nil:
		case aboutKey(err) || optional(cmd):
			failed = nil
		default:
			return err
		}
	}
	return failed
}
