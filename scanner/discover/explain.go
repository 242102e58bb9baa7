package discover

import (
	"context"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Explanation is what one key says of itself. It never shows an owner's token.
type Explanation struct {
	Type string        // of Redis; empty: there is no such key, and nothing else is known
	TTL  time.Duration // negative: none

	Helper     bool               // it belongs to a lock and is none
	Library    Library            // empty: unknown
	Confidence inspect.Confidence // of Library
	Evidence   string             // for Library
	UsualTTL   string             // as libraries.txt has it
	Traits

	Holder      string    // as the value tells; empty: unknown
	Since, Ends time.Time // the same; zero: unknown
	Finding     string    // what a sweep reports of such a key with the default limits; empty: nothing
	Doubt       string    // why no repair may touch the key; empty: one may, if it is found to be leaked
	MayBeReused bool      // a process may have the same value for its next lease: a repair asks when it was last used
}

// Explain reads one key of a server or a cluster, and reports what it is. It reads nothing else but the helper keys of
// Redisson's locks. The errors are those of [Sample].
func Explain(ctx context.Context, client redis.UniversalClient, key string) (x Explanation, err error) {
	master, done, err := masterOf(ctx, client, key)
	if err != nil {
		return x, err
	}
	defer done()
	values, err := keyreader.New(master, master, keyreader.Query{Limit: keyreader.NoLimit}, keyreader.Capability{}).
		Look(ctx, []string{key})
	if err != nil || values[0].Gone() {
		return x, redisconn.Scrub(err)
	}
	e := &entry{Value: &values[0]}
	for helper, kind := range map[string]string{
		"redisson_lock_queue:{" + key + "}": "waiters", "redisson_lock_timeout:{" + key + "}": "waiters",
		"{" + key + "}:timeout": "permits",
	} {
		typ, err := master.Type(ctx, helper).Result()
		if err != nil {
			return x, redisconn.Scrub(err)
		}
		if typ == "zset" || typ == "list" && kind == "waiters" {
			e.beside = kind
		}
	}
	return explain(e), nil
}

func explain(e *entry) Explanation {
	x := Explanation{Type: e.Type, TTL: e.TTL, Helper: keyreader.IsHelper(e.Key)}
	if x.Helper {
		x.Doubt = "it is a helper key, not a lock"
		return x
	}
	x.Doubt, x.MayBeReused = holders.Doubt(e.Value), holders.Kept(e.Value)
	if r, c, ok := rowOf(e); ok {
		x.Library, x.Confidence, x.Evidence, x.UsualTTL, x.Traits = c.library, c.confidence, c.evidence, r.ttl, c.Traits
		for _, expression := range r.values {
			x.read(expression, e.Head)
		}
	}
	if e.hold.Format != inspect.FormatUnknown {
		if x.Holder, x.Since = e.hold.Instance, e.hold.Since; e.hold.Done {
			x.Holder += " (done: kept for its minimum hold)"
		}
	}
	x.Finding = x.finding(e)
	return x
}

// read takes from a value what the groups of its row's expression name.
func (x *Explanation) read(value *regexp.Regexp, text string) {
	for i, part := range value.FindStringSubmatch(text) {
		switch value.SubexpNames()[i] {
		case "holder":
			x.Holder = part
		case "since":
			x.Since = instant(part)
		case "end":
			x.Ends = instant(part)
		}
	}
}

// instant reads seconds, milliseconds or nanoseconds since 1970, by the number of digits.
func instant(text string) time.Time {
	seconds, err := strconv.ParseFloat(text, 64)
	n, notWhole := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return time.Time{}
	case notWhole != nil || len(text) <= 10:
		return time.UnixMilli(int64(seconds * 1000))
	case len(text) <= 13:
		return time.UnixMilli(n)
	}
	return time.Unix(0, n)
}

// finding is what a sweep reports of the key now; empty: nothing. How long its holder has had it, one look cannot tell.
func (x *Explanation) finding(e *entry) string {
	rules := judge.Rules{TTLLimit: scanner.DefaultTTLLimit,
		Checks: map[inspect.Class]bool{inspect.NoTTL: true, inspect.LongTTL: true, inspect.ForeignType: true}}
	now := time.Now()
	found := rules.Classify(e.Value, &e.hold, time.Time{}, now)
	if len(found) == 0 {
		return ""
	}
	text := string(found[0]) + ": " + rules.Evidence(found[0], e.Value, time.Time{}, 0, now)
	if found[0] == inspect.NoTTL && x.Lasting {
		text += "; that is by design, so allow it with no_ttl_allowed"
	}
	return text
}

// masterOf makes a client of its own to the server that has the key.
func masterOf(ctx context.Context, client redis.UniversalClient, key string) (*redis.Client, func(), error) {
	c, ok := client.(*redis.ClusterClient)
	if !ok {
		masters, done, err := mastersOf(ctx, client)
		if err != nil {
			return nil, nil, err
		}
		return masters[0], done, nil
	}
	own := node.ConnectCluster(c, clientName, new(node.Sockets))
	master, err := own.MasterForKey(ctx, key)
	if err != nil {
		_ = own.Close()
		return nil, nil, redisconn.Scrub(err)
	}
	return master, func() { _ = own.Close() }, nil
}
