package scanner

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// repairWatched is repair.lua in plain commands, for servers that run no scripts:
// what changes the key between WATCH and EXEC makes EXEC fail. Only the connection
// of WATCH is of its own; what is read on others in between is safe all the same.
func (s *Scanner) repairWatched(ctx context.Context, master *redis.Client, f *Finding, a Action, least time.Duration) (outcome RepairOutcome, ttl time.Duration, err error) {
	opt := *master.Options()
	opt.MaxRetries = -1 // see once
	own := redis.NewClient(&opt)
	defer own.Close()
	err = own.Watch(ctx, func(tx *redis.Tx) error {
		outcome, ttl, err = s.verdict(ctx, master, f, a, least)
		if err != nil || outcome != RepairDone {
			return err
		}
		return commit(ctx, tx, f.Key, a)
	}, f.Key)
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return RepairChanged, ttl, nil
	case errors.Is(err, errGone):
		return RepairGone, never, nil
	case err != nil:
		return "", never, err
	}
	return outcome, ttl, nil
}

// verdict is [RepairDone] if the action is still to be done.
func (s *Scanner) verdict(ctx context.Context, master *redis.Client, f *Finding, a Action, least time.Duration) (RepairOutcome, time.Duration, error) {
	found, err := s.look(ctx, &target{name: f.Node, master: master, path: PathPipeline}, []string{f.Key})
	if err != nil {
		return "", never, err
	}
	v := &found[0]
	asSeen := least < 0 && v.ttl < 0 || least >= 0 && v.ttl >= least
	switch {
	case v.kind == kindNone:
		return RepairGone, never, nil
	case !asSeen || v.kind != f.Type || v.identity() != f.identity:
		return RepairChanged, v.ttl, nil
	case !a.remove && v.ttl >= 0 && v.ttl <= a.after:
		return RepairChanged, v.ttl, nil
	case a.dry:
		return RepairWouldDo, v.ttl, nil
	}
	return RepairDone, v.ttl, nil
}

var errGone = errors.New("the key is gone")

func commit(ctx context.Context, tx *redis.Tx, key string, a Action) error {
	var reply *redis.Cmd
	_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		if a.remove {
			reply = pipe.Do(ctx, "del", key)
		} else {
			reply = pipe.Do(ctx, "pexpire", key, a.after.Milliseconds())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n, err := reply.Int64(); err != nil || n == 0 {
		return errors.Join(errGone, err)
	}
	return nil
}
