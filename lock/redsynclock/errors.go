package redsynclock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock/driver"
)

// agreed turns redsync's pair of results into one error.
func agreed(ok bool, err error) error {
	switch {
	case ok:
		return nil
	case err == nil:
		return redsync.ErrFailed
	}
	return err
}

// takenBy returns what redsync says if a quorum of its pools has another value under the key, and nil otherwise.
func takenBy(err error) *redsync.ErrTaken {
	taken, _ := errors.AsType[*redsync.ErrTaken](err)
	return taken
}

func isTaken(err error) bool { return takenBy(err) != nil }

// anyServerError reports whether a pool failed or did not answer.
func anyServerError(err error) bool {
	var failed *redsync.RedisError
	return errors.As(err, &failed) || driver.ClassOf(err) == driver.Timeout
}

// replies are the first words of Redis errors, which the clients of all pools pass on.
var replies = []struct {
	prefix string
	err    error
	remedy string
}{
	{"NOAUTH", driver.ErrDenied, "give the pool's client a password"},
	{"WRONGPASS", driver.ErrDenied, "correct the user and password of the pool's client"},
	{"NOPERM", driver.ErrDenied, rightsRemedy},
	{"ERR ACL failure in script", driver.ErrDenied, rightsRemedy},         // Redis 7.2 and later
	{"ERR The user executing the script", driver.ErrDenied, rightsRemedy}, // may not do what follows: Redis 7.0
	{"READONLY", driver.ErrReplica, "connect the pool to the master"},
	{"LOADING", driver.ErrUnreachable, ""},
	{"BUSY ", driver.ErrUnreachable, ""},
	{"CLUSTERDOWN", driver.ErrUnreachable, ""},
	{"OOM", driver.ErrMisconfigured, "free memory on the server, or raise maxmemory"},
	{"MISCONF", driver.ErrMisconfigured, "make the server's disk writable again"},
	{"MOVED", driver.ErrMisconfigured, "use a Redis Cluster client in the pool"},
}

const rightsRemedy = "grant the user +set +get +del +pexpire +pttl +evalsha +eval on redsync's keys"

// classify adds the class of a redsync error. It never adds [driver.ErrNotSent]: clients retry by
// themselves and report the last try only.
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
