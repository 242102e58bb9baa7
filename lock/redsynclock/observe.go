package redsynclock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
)

// observed is the effect of options on a mutex, whose settings are not accessible.
type observed struct {
	expiry time.Duration
	tries  int
	enough func()
}

// observe locks a mutex with these options on a pool that refuses everything, and records the calls.
func observe(opts []redsync.Option) observed {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := observed{enough: cancel}
	m := redsync.New(&o).NewMutex("options", slices.Concat(opts, []redsync.Option{redsync.WithRetryDelay(0)})...)
	_ = m.LockContext(ctx) // refused
	return o
}

// manyTries ends the counting: more tries are as good as unlimited.
const manyTries = 1000

var _ redis.Pool = (*observed)(nil)

// Get implements redis.Pool.
func (o *observed) Get(context.Context) (redis.Conn, error) { return looking{o}, nil }

// looking is a connection without a server.
type looking struct{ o *observed }

var errLooking = errors.New("redsynclock: no server: this connection only records calls")

func (l looking) SetNX(_, _ string, expiry time.Duration) (bool, error) {
	l.o.expiry, l.o.tries = expiry, l.o.tries+1
	if l.o.tries >= manyTries {
		l.o.enough()
	}
	return false, nil
}

func (looking) Get(string) (string, error)              { return "", errLooking }
func (looking) Set(string, string) (bool, error)        { return false, errLooking }
func (looking) Eval(*redis.Script, ...any) (any, error) { return int64(-1), nil }
func (looking) ScriptLoad(*redis.Script) error          { return errLooking }
func (looking) PTTL(string) (time.Duration, error)      { return 0, errLooking }
func (looking) Close() error                            { return nil }
