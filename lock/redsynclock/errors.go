package redsynclock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock/driver"
)

// agreed makes one answer of the two that redsync gives.
func agreed(ok bool, err error) error {
	switch {
	case ok:
		return nil
	case err == nil:
		return redsync.ErrFailed
	}
	return err
}

// isTaken reports that a quorum of redsync's pools has said that the key is not ours.
func isTaken(err error) bool {
	var taken *redsync.ErrTaken
	return errors.As(err, &taken)
}

// anyServerError reports that a pool did not answer.
func anyServerError(err error) bool {
	var failed *redsync.RedisError
	return errors.As(err, &failed) || driver.ClassOf(err) == driver.Timeout
}

// replies are the words that errors of Redis begin with, which the clients of all pools
// pass on.
var replies = []struct {
	prefix string
	err    error
	remedy string
}{
	{"NOAUTH", driver.ErrDenied, "the client of the pool needs a password"},
	{"WRONGPASS", driver.ErrDenied, "the password of the pool's client is wrong"},
	{"NOPERM", driver.ErrDenied, "redsync needs +set +get +del +pexpire +pttl +evalsha +eval on its keys"},
	{"READONLY", driver.ErrReplica, "the pool has to lead to the master"},
	{"LOADING", driver.ErrUnreachable, ""},
	{"CLUSTERDOWN", driver.ErrUnreachable, ""},
	{"OOM", driver.ErrMisconfigured, "the server is out of memory"},
	{"MISCONF", driver.ErrMisconfigured, "the server cannot write to its disk"},
	{"MOVED", driver.ErrMisconfigured, "the pool needs a client for Redis Cluster"},
}

// classify says what kind of failure an error of redsync is. It never says that nothing
// was sent: clients send again by themselves, and tell of the last try only.
func classify(err error) error {
	var server *redsync.RedisError
	if errors.As(err, &server) {
		for _, r := range replies {
			if !strings.HasPrefix(server.Err.Error(), r.prefix) {
				continue
			}
			if r.remedy == "" {
				return fmt.Errorf("%w: %w", r.err, err)
			}
			return fmt.Errorf("%w: %w: %s", r.err, err, r.remedy)
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", driver.ErrTimeout, err)
	}
	return err
}
