package redlock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
)

// ErrNotNew says that a node cannot be vouched for: it may have forgotten locks, or
// may come to.
var ErrNotNew = errors.New("node is not new")

// classify gives an error of go-redis its class, where its type does not show it. The
// context error of a timeout stays out: it is the node's timeout, not the caller's.
func classify(err error) error {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("%w (%v)", driver.ErrTimeout, err)
	}
	var reply redis.Error
	if !errors.As(err, &reply) {
		return err
	}
	if text, _, quotes := strings.Cut(reply.Error(), ", with args beginning with"); quotes {
		reply = serverReply(text)
		err = reply
	}
	switch {
	case denies(reply):
		return fmt.Errorf("%w: %w", driver.ErrDenied, err)
	case redis.HasErrorPrefix(reply, "unknown command"):
		return fmt.Errorf("%w: %w", driver.ErrMisconfigured, err)
	}
	return err
}

// denies reports that only a change of users or rights on the server helps.
func denies(reply redis.Error) bool {
	for _, prefix := range []string{"NOAUTH", "WRONGPASS", "NOPERM"} {
		if redis.HasErrorPrefix(reply, prefix) {
			return true
		}
	}
	// What Redis 7.0 says of a command that the ACL denies inside a script.
	return strings.Contains(reply.Error(), "user executing the script can't run this command")
}

// serverReply is an error a node replied with, without the arguments it quotes: a
// server that does not know EVALSHA repeats them, and the token is one.
type serverReply string

func (e serverReply) Error() string { return string(e) }

// RedisError marks the reply as one, as go-redis does.
func (serverReply) RedisError() {}
