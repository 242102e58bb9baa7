package apply

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/repair"
)

// watched is repair.lua in plain commands, for servers that run no scripts. A change of the key between WATCH and
// EXEC makes EXEC fail. WATCH has its own connection; reads on other connections in between are safe all the same.
func (c *change) watched(ctx context.Context) (outcome repair.Outcome, ttl time.Duration, err error) {
	return c.watching(ctx, c.verdict)
}

// decision is [repair.Done] if the action is still to be done.
type decision = func(context.Context) (repair.Outcome, time.Duration, error)

// watching acts on a verdict, unless the key changes while the verdict is found.
func (c *change) watching(
	ctx context.Context, verdict decision,
) (outcome repair.Outcome, ttl time.Duration, err error) {
	opt := *c.master.Options()
	opt.MaxRetries = -1 // see once
	own := redis.NewClient(&opt)
	defer own.Close()
	err = own.Watch(ctx, func(tx *redis.Tx) error {
		outcome, ttl, err = verdict(ctx)
		if err != nil || outcome != repair.Done {
			return err
		}
		return c.commit(ctx, tx)
	}, c.finding.Key)
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return repair.Changed, ttl, nil
	case errors.Is(err, errGone):
		return repair.Gone, keyreader.Never, nil
	case err != nil:
		return "", keyreader.Never, err
	}
	return outcome, ttl, nil
}

// verdict is [repair.Done] if the action is still to be done.
func (c *change) verdict(ctx context.Context) (repair.Outcome, time.Duration, error) {
	f, a := c.finding, c.action
	reader := keyreader.New(c.master, c.master, keyreader.Query{}, keyreader.PlainOnly())
	found, err := reader.Look(ctx, []string{f.Key})
	if err != nil {
		return "", keyreader.Never, err
	}
	v := &found[0]
	asSeen := c.least < 0 && v.TTL < 0 || c.least >= 0 && v.TTL >= c.least
	switch {
	case v.Gone():
		return repair.Gone, keyreader.Never, nil
	case !asSeen || v.Type != f.Type || v.Identity() != f.Identity:
		return repair.Changed, v.TTL, nil
	case !a.Deletes() && v.TTL >= 0 && v.TTL <= a.After():
		return repair.Changed, v.TTL, nil
	case a.IsDry():
		return repair.WouldDo, v.TTL, nil
	}
	return repair.Done, v.TTL, nil
}

var errGone = errors.New("the key is gone")

func (c *change) commit(ctx context.Context, tx *redis.Tx) error {
	key := c.finding.Key
	var reply *redis.Cmd
	_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		if c.action.Deletes() {
			reply = pipe.Do(ctx, "del", key)
		} else {
			reply = pipe.Do(ctx, "pexpire", key, c.action.After().Milliseconds())
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
