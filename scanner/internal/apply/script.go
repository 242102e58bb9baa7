package apply

import (
	"context"
	_ "embed" // the script
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
)

//go:embed repair.lua
var repairLua string

// change is one action on the key of one finding.
type change struct {
	master  *redis.Client
	finding *registry.Entry
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
func (c *change) byScript(ctx context.Context) (outcome inspect.Outcome, ttl time.Duration, err error) {
	return c.run(ctx, repairLua, []any{c.finding.Identity, c.leastMillis(), c.act(), c.dry()})
}

// run uses the read-only command for scripts in a dry run, where there is one, so that the server itself prevents
// writes.
func (c *change) run(ctx context.Context, lua string, args []any) (
	outcome inspect.Outcome, ttl time.Duration, err error,
) {
	commands := node.EvalCommands()
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

func refusedScript(err error) bool { return redisconn.IsReply(err) && node.IsRefused(err) }

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

func parseReply(reply any) (inspect.Outcome, time.Duration, error) {
	parts, _ := reply.([]any)
	if len(parts) != 2 {
		return "", keyreader.Never, fmt.Errorf("%w: a repair returned %d parts", driver.ErrBadReply, len(parts))
	}
	word, ok1 := parts[0].(string)
	pttl, ok2 := parts[1].(int64)
	outcome, known := map[string]inspect.Outcome{
		"gone": inspect.Gone, "changed": inspect.Changed, "would": inspect.WouldDo, "done": inspect.Done,
	}[word]
	if !ok1 || !ok2 || !known {
		return "", keyreader.Never, fmt.Errorf("%w: a repair returned parts of unexpected types", driver.ErrBadReply)
	}
	return outcome, keyreader.TTLOf(pttl), nil
}

//go:embed reader.lua
var readerLua string

// ofReader reports whether a finding is about readers of a read/write lock.
func ofReader(f *registry.Entry) bool {
	return f.Type == keyreader.Hash && f.Hold.Format == inspect.FormatLockscope
}

// readerArgs are the arguments of reader.lua.
func (c *change) readerArgs() []any {
	ofKey := "0"
	if c.finding.Class == inspect.NoTTL {
		ofKey = "1"
	}
	return []any{c.finding.Identity, c.leastMillis(), c.mostMillis(), c.act(), c.dry(), ofKey}
}

// mostMillis is more than what may be left of an orphan's time. A reader that was renewed since it was seen has a
// process that is alive, and that may have lost some of its nodes only for a moment.
func (c *change) mostMillis() int64 {
	f := c.finding
	if f.Class != inspect.Orphan || f.TTL < 0 {
		return -1
	}
	return mostTTL(f, c.now).Milliseconds()
}

// byReaderScript acts on one reader, or on the TTL of all.
func (c *change) byReaderScript(ctx context.Context) (inspect.Outcome, time.Duration, error) {
	outcome, ttl, err := c.run(ctx, readerLua, c.readerArgs())
	if err != nil && refusedScript(err) {
		err = fmt.Errorf("%w: readers are repaired by a script: grant the rules of RepairACL: %w",
			repair.ErrNotRepairable, err)
	}
	return outcome, ttl, err
}

// refusedCommand finds the command in a refusal of Redis.
var refusedCommand = regexp.MustCompile(`run the '([^']+)' command`)

// notPermitted also recognises the error inside a script, of Redis 7.0 and of later versions.
func notPermitted(err error) bool {
	text := err.Error()
	return strings.Contains(text, "NOPERM") || strings.Contains(text, "user executing the script") ||
		strings.Contains(text, "ACL failure in script")
}

// lacks is the ACL rule that a refusal asks for. Redis 7.0 does not name the command that it refuses inside a script:
// then these are the rules that only a repair needs.
func lacks(f *registry.Entry, a repair.Action, err error) string {
	found := refusedCommand.FindStringSubmatch(err.Error())
	switch {
	case found != nil:
		return "+" + found[1]
	case strings.Contains(err.Error(), "key"):
		return "write access to the key"
	case ofReader(f):
		return "+time +hset +hdel +del +pexpire"
	case a.Deletes():
		return "+del"
	}
	return "+pexpire"
}
