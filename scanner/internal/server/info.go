package server

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Keyspace returns how many keys the server has in database db, and how many of
// them expire. One that does not tell has -1 and 0, which is no error. An error is
// that of the connection or the context, or matches [ErrBadReply].
func Keyspace(ctx context.Context, client *redis.Client, db int) (keys, expiring int64, err error) {
	text, err := client.Info(ctx, "keyspace").Result()
	if err != nil {
		if IsReply(err) {
			return -1, 0, nil // what else is wrong with the server, its keys will tell
		}
		return -1, 0, err
	}
	prefix := "db" + strconv.Itoa(db) + ":"
	for line := range strings.Lines(text) {
		if fields, found := strings.CutPrefix(strings.TrimSpace(line), prefix); found {
			return parseKeyspace(fields)
		}
	}
	return 0, 0, nil // a database without keys has no line
}

// parseKeyspace reads keys=1,expires=2,avg_ttl=3.
func parseKeyspace(fields string) (keys, expiring int64, err error) {
	keys, expiring = -1, 0
	for field := range strings.SplitSeq(fields, ",") {
		name, number, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil:
			return -1, 0, ErrBadReply
		case name == "keys":
			keys = n
		case name == "expires":
			expiring = n
		}
	}
	return keys, expiring, nil
}
