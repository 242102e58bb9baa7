package server

import (
	"context"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"

	"github.com/redis/go-redis/v9"
)

// Keyspace returns how many keys the server has in database db, and how many of
// them expire. One that does not tell has -1 and 0, which is no error. An error is
// that of the connection or the context, or matches driver.ErrBadReply.
func Keyspace(ctx context.Context, client *redis.Client, db int) (keys, expiring int64, err error) {
	text, err := client.Info(ctx, "keyspace").Result()
	if err != nil {
		if redisconn.IsReply(err) {
			return -1, 0, nil // what else is wrong with the server, its keys will tell
		}
		return -1, 0, err
	}
	keys, expiring, ok := redisinfo.Parse(text).Keyspace(db)
	if !ok {
		return -1, 0, driver.ErrBadReply
	}
	return keys, expiring, nil
}
