package redsynclock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
)

// observed is what options make of a mutex, which does not tell.
type observed struct {
	expiry time.Duration
	tries  int
	enough func()
}

// observe has a mutex with these options lock on a pool that refuses, and looks.
func observe(opts []redsync.Option) observed {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := observed{enough: cancel}
	m := redsync.New(&o).NewMutex("options", slices.Concat(opts, []redsync.Option{redsync.WithRetryDelay(0)})...)
	_ = m.LockContext(ctx) // refused
	return o
}

// manyTries are as many as are counted; more are as good as no bound.
const manyTries = 1000

var _ redis.Pool = (*observed)(nil)

// Get implements redis.Pool.
func (o *observed) Get(context.Context) (redis.Conn, error) { return looking{o}, nil }

// looking is a connection to nothing.
type looking struct{ o *observed }

var errLooking = errors.New("redsynclock: there is no server")

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
