package apply

import (
	"context"
	_ "embed" // the script
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/server"
	"github.com/lockscope/lockscope/scanner/repair"
)

//go:embed repair.lua
var repairLua string

// change is one action on the key of one finding.
type change struct {
	master  *redis.Client
	finding *ledger.Entry
	action  repair.Action
	least   time.Duration // the key has been changed if its TTL is below; Never: if it has one
	now     time.Time
}

// once is a command that is not retried when the connection fails. A retry of a command that was done would report
// that somebody else did it.
type once struct{ *redis.Cmd }

// NoRetry limits go-redis to one attempt.
func (once) NoRetry() bool { return true }

type onceProcessor struct{ client *redis.Client }

func (p onceProcessor) Process(ctx context.Context, cmd redis.Cmder) error {
	return p.client.Process(ctx, once{cmd.(*redis.Cmd)})
}

// byScript acts on a key that one holder has.
func (c *change) byScript(ctx context.Context) (outcome repair.Outcome, ttl time.Duration, err error) {
	return c.run(ctx, repairLua, []any{c.finding.Identity, c.leastMillis(), c.act(), c.dry()})
}

// run uses the read-only command for scripts in a dry run, where there is one, so that the server itself prevents
// writes.
func (c *change) run(ctx context.Context, lua string, args []any) (
	outcome repair.Outcome, ttl time.Duration, err error,
) {
	commands := server.EvalCommands()
	if !c.action.IsDry() {
		commands = commands[1:]
	}
	script, all := redisconn.NewScript(lua), append([]any{1, c.finding.Key}, args...)
	for _, eval := range commands {
		var reply any
		reply, err = script.Run(ctx, onceProcessor{c.master}, eval, redisconn.Args(all...))
		if err == nil {
			return parseReply(reply)
		}
		if !refusedScript(err) {
			break
		}
	}
	return "", keyreader.Never, err
}

func refusedScript(err error) bool { return redisconn.IsReply(err) && server.IsRefused(err) }

// act is the action in the form that repair.lua reads.
func (c *change) act() string {
	if c.action.Deletes() {
		return "delete"
	}
	return fmt.Sprint(c.action.After().Milliseconds())
}

func (c *change) dry() string {
	if c.action.IsDry() {
		return "1"
	}
	return "0"
}

func (c *change) leastMillis() int64 {
	if c.least < 0 {
		return -1
	}
	return c.least.Milliseconds()
}

func parseReply(reply any) (repair.Outcome, time.Duration, error) {
	parts, _ := reply.([]any)
	if len(parts) != 2 {
		return "", keyreader.Never, fmt.Errorf("%w: a repair returned %d parts", driver.ErrBadReply, len(parts))
	}
	word, ok1 := parts[0].(string)
	pttl, ok2 := parts[1].(int64)
	outcome, known := map[string]repair.Outcome{
		"gone": repair.Gone, "changed": repair.Changed, "would": repair.WouldDo, "done": repair.Done,
	}[word]
	if !ok1 || !ok2 || !known {
		return "", keyreader.Never, fmt.Errorf("%w: a repair returned parts of unexpected types", driver.ErrBadReply)
	}
	return outcome, keyreader.TTLOf(pttl), nil
}
