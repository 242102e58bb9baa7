package server

import (
	"context"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"

	"github.com/redis/go-redis/v9"
)

// Info asks a server what it says of itself. One that does not tell has none, which is
// no error: what else is wrong with it, its keys will tell. An error is that of the
// connection or the context, or the reply to a user or password that is wrong or missing.
func Info(ctx context.Context, client *redis.Client) (redisinfo.Info, error) {
	text, err := client.Info(ctx).Result()
	if err != nil && (!redisconn.IsReply(err) || redisconn.IsStranger(err)) {
		return nil, err
	}
	return redisinfo.Parse(text), nil
}
