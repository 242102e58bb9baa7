package diagnosis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// probe is a command that needs a grant and, on keys that do not exist, does nothing.
type probe struct {
	grant   string // "+set"
	pattern string // grant of the key or channel it names, if any
	args    []any
}

func plain(args ...any) probe { return probe{grant: "+" + args[0].(string), args: args} }

const (
	wakeChannel = "lockscope:wake:"
	ownKeys     = "~lockscope:*"
)

// probes are harmless: SET and ZADD carry XX, nobody listens to the channel, and
// no key they name exists.
func probes(prefix string) []probe {
	id := rand.Text()
	lockKey := prefix + "lockscope-doctor-" + id
	queue := "lockscope:queue:{" + lockKey + "}"
	onLock := func(args ...any) probe {
		return probe{"+" + args[0].(string), "~" + prefix + "*", append([]any{args[0], lockKey}, args[1:]...)}
	}
	onQueue := func(args ...any) probe {
		return probe{"+" + args[0].(string), ownKeys, append([]any{args[0], queue}, args[1:]...)}
	}
	return []probe{
		plain("eval", "return 1", 0), plain("evalsha", strings.Repeat("0", 40), 0),
		plain("info", "server"), plain("ping"), plain("time"),
		onLock("get"), onLock("mget"), onLock("set", "x", "xx", "px", 1), onLock("del"), onLock("exists"),
		onLock("pttl"), onLock("pexpire", 1),
		onQueue("zadd", "xx", 1, "x"), onQueue("zrem", "x"), onQueue("zscore", "x"), onQueue("zrank", "x"),
		onQueue("zrange", 0, 0), onQueue("zpopmin"), onQueue("zcard"),
		// The names of fields and values must come in pairs: this HSET is refused by itself.
		onLock("hget", "x"), onLock("hgetall"), onLock("hlen"), onLock("hset", "x", 1, "y"), onLock("hdel", "x"),
		{"+publish", "&" + wakeChannel + "*", []any{"publish", wakeChannel + "doctor-" + id, ""}},
		{"+subscribe", "&" + wakeChannel + "*", []any{"subscribe", wakeChannel + "doctor-" + id}},
	}
}

// missingRights returns the grants that locks need and the user of c, or p.ACLUser,
// does not have.
func missingRights(ctx context.Context, c *redis.Client, p Policy) ([]string, error) {
	return missing(ctx, c, probes(p.Prefix), p.ACLUser)
}

// VouchGrants are what redlock.Vouch needs of a server.
const VouchGrants = ownKeys + " +info +dbsize +scan +get +mget +set +del +eval +time"

// MissingToVouch returns which of them the user of c does not have. Nothing is changed
// on the server.
func MissingToVouch(ctx context.Context, c *redis.Client) ([]string, error) {
	key := "lockscope:init-" + rand.Text()
	onKey := func(args ...any) probe {
		return probe{"+" + args[0].(string), ownKeys, append([]any{args[0], key}, args[1:]...)}
	}
	return missing(ctx, c, []probe{
		plain("info", "server"), plain("dbsize"), plain("scan", 0, "count", 1), plain("eval", "return 1", 0),
		onKey("get"), onKey("mget"), onKey("set", "x", "xx", "px", 1), onKey("del"), plain("time"),
	}, "")
}

func missing(ctx context.Context, c *redis.Client, tries []probe, user string) ([]string, error) {
	var missing []string
	for _, try := range tries {
		refusal, err := refused(ctx, c, try, user)
		if err != nil {
			return missing, err
		}
		if refusal == "" {
			continue
		}
		grant := try.grant
		if try.pattern != "" && namesPattern(refusal) {
			grant = try.pattern
		}
		if !slices.Contains(missing, grant) {
			missing = append(missing, grant)
		}
	}
	return missing, nil
}

// namesPattern tells a key or channel that is out of bounds from a command that is.
func namesPattern(refusal string) bool {
	return !strings.Contains(refusal, "to run the") &&
		(strings.Contains(refusal, "key") || strings.Contains(refusal, "channel"))
}

// refused returns why the server does not permit the command, or "".
func refused(ctx context.Context, c *redis.Client, try probe, user string) (string, error) {
	switch {
	case user != "":
		return dryRun(ctx, c, try, user)
	case try.args[0] == "subscribe":
		return refusal(subscribe(ctx, c, try.args[1].(string)))
	}
	return refusal(c.Do(ctx, try.args...).Err())
}

// refusal makes of a reply what it says about rights: any reply but NOPERM means
// that the command was let through.
func refusal(err error) (string, error) {
	var reply redis.Error
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &reply):
		return "", err
	case strings.HasPrefix(err.Error(), "NOPERM"):
		return err.Error(), nil
	}
	return "", nil
}

func subscribe(ctx context.Context, c *redis.Client, channel string) error {
	sub := c.Subscribe(ctx, channel)
	defer sub.Close()
	_, err := sub.Receive(ctx)
	return err
}

func dryRun(ctx context.Context, c *redis.Client, try probe, user string) (string, error) {
	said, err := c.Do(ctx, append([]any{"acl", "dryrun", user}, try.args...)...).Text()
	if err != nil {
		return "", fmt.Errorf("ACL DRYRUN: %w", err)
	}
	if said == "OK" {
		return "", nil
	}
	return said, nil
}

// refusals are the codes with which a server refuses what it would do otherwise, and what
// to do about each.
func refusals() map[string]string {
	return map[string]string{
		"NOREPLICAS": "too few replicas follow it for min-replicas-to-write: repair them, or CONFIG SET " +
			"min-replicas-to-write 0",
		"MISCONF":     "it cannot write to its disk: free some space, then run BGSAVE",
		"OOM":         "it is full: free some memory, or raise maxmemory",
		"CLUSTERDOWN": "no node serves some slots of the cluster: run redis-cli --cluster check",
		"READONLY":    "it is a replica: give its master",
		"MASTERDOWN":  "it is a replica without its master: give the master",
		"LOADING":     "it loads its data: wait until it is done",
		"BUSY":        "a script hangs: run SCRIPT KILL",
	}
}

// writeRefusal returns the reply with which the server refuses to write, or "". It writes
// nothing: the key does not exist, and XX sets existing keys only. With --acl-user the
// doctor's own user need not have the right to write, so only the server's state counts.
func writeRefusal(ctx context.Context, c *redis.Client, p Policy, text string) string {
	if p.ACLUser == "" {
		err := c.Do(ctx, "set", p.Prefix+"lockscope-doctor-"+rand.Text(), "x", "xx", "px", 1).Err()
		if reply, ok := errors.AsType[redis.Error](err); ok {
			if code, _, _ := strings.Cut(reply.Error(), " "); refusals()[code] != "" {
				return reply.Error()
			}
		}
	}
	info := redisinfo.Parse(text)
	config := func(name string) string {
		found, _ := c.ConfigGet(ctx, name).Result() // "" without the right to ask
		return found[name]
	}
	if least, _ := strconv.ParseInt(config("min-replicas-to-write"), 10, 64); least > 0 {
		if good, told := info["min_slaves_good_slaves"]; told && info.Number("min_slaves_good_slaves") < least {
			return fmt.Sprintf("NOREPLICAS %s of %d replicas follow it", good, least)
		}
	}
	if info["rdb_last_bgsave_status"] == "err" && config("stop-writes-on-bgsave-error") == "yes" &&
		config("save") != "" {
		return "MISCONF its last snapshot failed"
	}
	if info["cluster_enabled"] == "1" {
		if state := redisinfo.Parse(c.ClusterInfo(ctx).Val()); state["cluster_state"] == "fail" {
			return fmt.Sprintf("CLUSTERDOWN %s of 16384 slots are served", state["cluster_slots_ok"])
		}
	}
	return ""
}

func checkWrites(f Facts, _ Policy) inspect.Result {
	if f.Refuses == "" {
		return inspect.Passed("it accepts writes, as far as doctor can tell")
	}
	code, _, _ := strings.Cut(f.Refuses, " ")
	return inspect.Failed("it refuses to write: "+f.Refuses, refusals()[code])
}
