package scanner

import (
	"context"
	_ "embed" // the script
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

//go:embed repair.lua
var repairLua string

// repair is one action on the key of one finding.
type repair struct {
	master  *redis.Client
	finding *ledger.Entry
	action  Action
	least   time.Duration // the key has been changed if its TTL is below; Never: if it has one
}

// once is a command that is not sent again when the connection fails: repeating
// one that was done would report that somebody else did it.
type once struct{ *redis.Cmd }

// NoRetry makes go-redis leave it at one attempt.
func (once) NoRetry() bool { return true }

type onceProcessor struct{ client *redis.Client }

func (p onceProcessor) Process(ctx context.Context, cmd redis.Cmder) error {
	return p.client.Process(ctx, once{cmd.(*redis.Cmd)})
}

// byScript uses the read-only way of running scripts for a dry run, where there is
// one: the server itself sees to it then that nothing is written.
func (r *repair) byScript(ctx context.Context) (outcome RepairOutcome, ttl time.Duration, err error) {
	commands := server.EvalCommands()
	if !r.action.dry {
		commands = commands[1:]
	}
	script, f := redisconn.NewScript(repairLua), r.finding
	for _, eval := range commands {
		var reply any
		reply, err = script.Run(ctx, onceProcessor{r.master}, eval,
			redisconn.Args(1, f.Key, f.Type, f.Identity, r.leastMillis(), r.act(), r.dry()))
		if err == nil {
			return parseRepair(reply)
		}
		if !redisconn.IsReply(err) || !server.IsRefused(err) {
			break
		}
	}
	return "", keyreader.Never, err
}

// act is the action as repair.lua reads it.
func (r *repair) act() string {
	if r.action.remove {
		return "delete"
	}
	return fmt.Sprint(r.action.after.Milliseconds())
}

func (r *repair) dry() string {
	if r.action.dry {
		return "1"
	}
	return "0"
}

func (r *repair) leastMillis() int64 {
	if r.least < 0 {
		return -1
	}
	return r.least.Milliseconds()
}

func parseRepair(reply any) (RepairOutcome, time.Duration, error) {
	parts, _ := reply.([]any)
	if len(parts) != 2 {
		return "", keyreader.Never, fmt.Errorf("%w: a repair has %d parts", ErrBadReply, len(parts))
	}
	word, ok1 := parts[0].(string)
	pttl, ok2 := parts[1].(int64)
	outcome, known := map[string]RepairOutcome{
		"gone": RepairGone, "changed": RepairChanged, "would": RepairWouldDo, "done": RepairDone,
	}[word]
	if !ok1 || !ok2 || !known {
		return "", keyreader.Never, fmt.Errorf("%w: a repair has parts of other types", ErrBadReply)
	}
	return outcome, keyreader.TTLOf(pttl), nil
}
