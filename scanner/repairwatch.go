package scanner

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// watched is repair.lua in plain commands, for servers that run no scripts:
// what changes the key between WATCH and EXEC makes EXEC fail. Only the connection
// of WATCH is of its own; what is read on others in between is safe all the same.
func (r *repair) watched(ctx context.Context) (outcome RepairOutcome, ttl time.Duration, err error) {
	return r.watching(ctx, r.verdict)
}

// decision is [RepairDone] if the action is still to be done.
type decision = func(context.Context) (RepairOutcome, time.Duration, error)

// watching acts on the word of a judge, unless the key is changed while that one looks.
func (r *repair) watching(ctx context.Context, verdict decision) (outcome RepairOutcome, ttl time.Duration, err error) {
	opt := *r.master.Options()
	opt.MaxRetries = -1 // see once
	own := redis.NewClient(&opt)
	defer own.Close()
	err = own.Watch(ctx, func(tx *redis.Tx) error {
		outcome, ttl, err = verdict(ctx)
		if err != nil || outcome != RepairDone {
			return err
		}
		return r.commit(ctx, tx)
	}, r.finding.Key)
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return RepairChanged, ttl, nil
	case errors.Is(err, errGone):
		return RepairGone, keyreader.Never, nil
	case err != nil:
		return "", keyreader.Never, err
	}
	return outcome, ttl, nil
}

// verdict is [RepairDone] if the action is still to be done.
func (r *repair) verdict(ctx context.Context) (RepairOutcome, time.Duration, error) {
	f, a := r.finding, r.action
	reader := keyreader.New(r.master, r.master, keyreader.Query{}, keyreader.PlainOnly())
	found, err := reader.Look(ctx, []string{f.Key})
	if err != nil {
		return "", keyreader.Never, err
	}
	v := &found[0]
	asSeen := r.least < 0 && v.TTL < 0 || r.least >= 0 && v.TTL >= r.least
	switch {
	case v.Gone():
		return RepairGone, keyreader.Never, nil
	case !asSeen || v.Type != f.Type || v.Identity() != f.Identity:
		return RepairChanged, v.TTL, nil
	case !a.remove && v.TTL >= 0 && v.TTL <= a.after:
		return RepairChanged, v.TTL, nil
	case a.dry:
		return RepairWouldDo, v.TTL, nil
	}
	return RepairDone, v.TTL, nil
}

var errGone = errors.New("the key is gone")

func (r *repair) commit(ctx context.Context, tx *redis.Tx) error {
	key := r.finding.Key
	var reply *redis.Cmd
	_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		if r.action.remove {
			reply = pipe.Do(ctx, "del", key)
		} else {
			reply = pipe.Do(ctx, "pexpire", key, r.action.after.Milliseconds())
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
