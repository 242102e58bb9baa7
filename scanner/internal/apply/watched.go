package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// watched is repair.lua in plain commands, for servers that run no scripts. A change of the key between WATCH and
// EXEC makes EXEC fail. WATCH has its own connection; reads on other connections in between are safe all the same.
func (c *change) watched(ctx context.Context) (outcome inspect.Outcome, ttl time.Duration, err error) {
	return c.watching(ctx, c.verdict, c.commit)
}

// decision is [inspect.Done] if the action is still to be done.
type decision = func(context.Context) (inspect.Outcome, time.Duration, error)

// watching commits on a verdict, unless the key changes while the verdict is found.
func (c *change) watching(
	ctx context.Context, verdict decision, commit func(context.Context, *redis.Conn) error,
) (outcome inspect.Outcome, ttl time.Duration, err error) {
	opt := *c.master.Options()
	opt.MaxRetries = -1 // see once
	own := redis.NewClient(&opt)
	defer own.Close()
	conn := own.Conn() // WATCH ends with it: no UNWATCH, which would need a right
	defer func() { _ = conn.Close() }()
	if _, err := send(ctx, conn, "watch", c.finding.Key); err != nil {
		return "", keyreader.Never, err
	}
	if outcome, ttl, err = verdict(ctx); err == nil && outcome == inspect.Done {
		err = commit(ctx, conn)
	}
	switch {
	case errors.Is(err, errChanged):
		return inspect.Changed, ttl, nil
	case errors.Is(err, errGone):
		return inspect.Gone, keyreader.Never, nil
	case err != nil:
		return "", keyreader.Never, err
	}
	return outcome, ttl, nil
}

// verdict is [inspect.Done] if the action is still to be done.
func (c *change) verdict(ctx context.Context) (inspect.Outcome, time.Duration, error) {
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
		return inspect.Gone, keyreader.Never, nil
	case !asSeen || v.Type != f.Type || v.Identity() != f.Identity:
		return inspect.Changed, v.TTL, nil
	case !a.Deletes() && v.TTL >= 0 && v.TTL <= a.After():
		return inspect.Changed, v.TTL, nil
	case a.IsDry():
		return inspect.WouldDo, v.TTL, nil
	}
	return inspect.Done, v.TTL, nil
}

var (
	errGone    = errors.New("the key is gone")
	errChanged = errors.New("the key was changed")
)

func (c *change) commit(ctx context.Context, conn *redis.Conn) error {
	act := []any{"pexpire", c.finding.Key, c.action.After().Milliseconds()}
	if c.action.Deletes() {
		act = []any{"del", c.finding.Key}
	}
	result, err := transact(ctx, conn, act...)
	if err != nil {
		return err
	}
	if n, _ := result.(int64); n == 0 {
		return errGone
	}
	return nil
}

// transact returns the result of a command, unless a watched key has changed. It waits for the answer to each command:
// without the right to MULTI, a pipeline would act outside of the transaction, and EXEC would only report that
// afterwards.
func transact(ctx context.Context, conn *redis.Conn, act ...any) (any, error) {
	for _, args := range [][]any{{"multi"}, act} {
		if _, err := send(ctx, conn, args...); err != nil {
			return nil, err
		}
	}
	reply, err := send(ctx, conn, "exec")
	if errors.Is(err, redis.Nil) {
		return nil, errChanged
	}
	results, _ := reply.([]any)
	if err == nil && len(results) != 1 {
		err = fmt.Errorf("%w: EXEC returned %d results", driver.ErrBadReply, len(results))
	}
	if err != nil {
		return nil, err
	}
	failed, _ := results[0].(error)
	return results[0], failed
}

func send(ctx context.Context, conn *redis.Conn, args ...any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	_ = conn.Process(ctx, cmd)
	return cmd.Result()
}
