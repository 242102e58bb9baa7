package servers

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Pinger asks one server of Redis whether it answers. It is safe for concurrent use.
type Pinger struct{ refused atomic.Bool }

// Ping returns nil if the server answers PING or, if the user may not send that, INFO. A refused command is not sent
// again, because each refusal is a line in the server's ACL LOG.
func (p *Pinger) Ping(ctx context.Context, c redis.UniversalClient) error {
	if !p.refused.Load() {
		err := c.Ping(ctx).Err()
		if err == nil || !redis.HasErrorPrefix(err, "NOPERM") {
			return err
		}
	}
	err := c.Info(ctx, "server").Err()
	p.refused.Store(err == nil)
	if err != nil {
		return fmt.Errorf("%w: grant +ping to this user", err)
	}
	return nil
}

// Silence makes of the error of a ping one whose class is known: a server that refuses it answers.
func Silence(err error) error {
	if err == nil || redisconn.IsReply(err) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrTimeout, err)
}
