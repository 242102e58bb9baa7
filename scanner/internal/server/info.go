package server

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"

	"github.com/redis/go-redis/v9"
)

// Info returns the server's INFO. A server that refuses it has none, which is not an error: other failures show when
// its keys are read. The error is that of the connection or the context, or the reply to a wrong or missing user or
// password.
func Info(ctx context.Context, client *redis.Client) (redisinfo.Info, error) {
	text, err := client.Info(ctx).Result()
	if err != nil && (errors.Is(err, redis.Nil) || // no reply to INFO: Sentinels know no master of this name
		!redisconn.IsReply(err) || redisconn.IsStranger(err)) {
		return nil, err
	}
	return redisinfo.Parse(text), nil
}
