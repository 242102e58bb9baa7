package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Right is one grant of an ACL that a lock needs.
type Right struct {
	Grant    string // "+set"
	Optional bool   // works without it, with less
}

// probe is a command that needs a right and, on keys that do not exist, does nothing.
type probe struct {
	Right
	pattern string // grant of the key or channel it names, if any
	args    []any
}

const wakeChannel = "lockscope:wake:"

// probes are harmless: SET and ZADD carry XX, nobody listens to the channel, and
// no key they name exists.
func probes(prefix string) []probe {
	id := rand.Text()
	lockKey := prefix + "lockscope-doctor-" + id
	queue := "lockscope:queue:{" + lockKey + "}"
	onLock := func(args ...any) probe {
		return probe{Right{Grant: "+" + args[0].(string)}, "~" + prefix + "*", append([]any{args[0], lockKey}, args[1:]...)}
	}
	onQueue := func(args ...any) probe {
		return probe{Right{Grant: "+" + args[0].(string)}, "~lockscope:*", append([]any{args[0], queue}, args[1:]...)}
	}
	plain := func(args ...any) probe { return probe{Right: Right{Grant: "+" + args[0].(string)}, args: args} }
	return []probe{
		plain("eval", "return 1", 0), plain("evalsha", strings.Repeat("0", 40), 0),
		plain("info", "server"), plain("ping"), plain("time"),
		onLock("get"), onLock("mget"), onLock("set", "x", "xx", "px", 1), onLock("del"), onLock("exists"),
		onLock("pttl"), onLock("pexpire", 1),
		onQueue("zadd", "xx", 1, "x"), onQueue("zrem", "x"), onQueue("zscore", "x"), onQueue("zrank", "x"),
		onQueue("zrange", 0, 0), onQueue("zpopmin"),
		{Right{Grant: "+publish"}, "&" + wakeChannel + "*", []any{"publish", wakeChannel + "doctor-" + id, ""}},
		{Right{Grant: "+subscribe"}, "&" + wakeChannel + "*", []any{"subscribe", wakeChannel + "doctor-" + id}},
		{Right{Grant: "+config|get", Optional: true}, "", []any{"config", "get", "appendfsync"}},
	}
}

// missingRights returns what the user of c, or p.ACLUser, may not do.
func missingRights(ctx context.Context, c *redis.Client, p Policy) ([]Right, error) {
	var missing []Right
	seen := make(map[string]bool)
	for _, try := range probes(p.Prefix) {
		refusal, err := refused(ctx, c, try, p.ACLUser)
		if err != nil {
			return missing, err
		}
		if refusal == "" {
			continue
		}
		right := try.Right
		if try.pattern != "" && namesPattern(refusal) {
			right = Right{Grant: try.pattern}
		}
		if !seen[right.Grant] {
			seen[right.Grant] = true
			missing = append(missing, right)
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
