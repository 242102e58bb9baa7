package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/discover"
)

const proposalHead = `# Proposed by lockscope discover. Read it before you use it: what was seen need not be what is right.
#   lockscope config check --connect FILE
#   lockscope scan --config FILE
`

// proposal is a configuration of what was found. It has no password.
func (f *discoverFlags) proposal(all []discovered) string {
	var b strings.Builder
	b.WriteString(proposalHead)
	b.WriteString("groups:\n")
	for _, d := range all {
		f.group(&b, d)
	}
	return b.String()
}

// group is one server: whether several are nodes of one Redlock is not seen in a sample.
func (f *discoverFlags) group(b *strings.Builder, d discovered) {
	c := &f.redis.target
	fmt.Fprintf(b, "  - name: %s\n", strconv.Quote(d.node.Name))
	switch {
	case c.SentinelMaster != "":
		fmt.Fprintf(b, "    redis: [] # name the Sentinels here\n    sentinel_master: %s\n", strconv.Quote(c.SentinelMaster))
	default:
		fmt.Fprintf(b, "    redis: [%s]\n", strconv.Quote(target.URL(d.node)))
		if c.Cluster {
			b.WriteString("    cluster: true\n")
		}
	}
	b.WriteString("    # Nodes of one Redlock belong into one group, with redlock: true.\n")
	if c.Username != "" {
		fmt.Fprintf(b, "    username: %s\n", strconv.Quote(c.Username))
	}
	if path, err := filepath.Abs(c.PasswordFile); c.PasswordFile != "" && err == nil {
		fmt.Fprintf(b, "    password_file: %s\n", strconv.Quote(path))
	} else {
		b.WriteString("    # password_file: redis-password\n")
	}
	patterns(b, d.result.Found)
}

func patterns(b *strings.Builder, found []discover.Found) {
	sure := slices.ContainsFunc(found, func(f discover.Found) bool { return f.Confidence > discover.Low })
	if sure {
		b.WriteString("    patterns:\n")
	} else {
		b.WriteString("    # patterns: # only guesses were found; without patterns, lock:* is looked at\n")
	}
	seen := make(map[string]bool)
	for i := range found {
		one := &found[i]
		mark, again := "      ", seen[one.Pattern]
		if one.Confidence == discover.Low || again || !sure {
			mark = "      # "
		}
		seen[one.Pattern] = true
		fmt.Fprintf(b, "      # %s, %s: %s. %d keys seen, TTL %s.\n", one.Library, one.Confidence, one.Evidence, one.Keys, ttlRange(one))
		if again {
			b.WriteString("      # Another library has the same pattern: the one above decides.\n")
			continue
		}
		p := propose(one)
		for _, why := range p.why {
			fmt.Fprintf(b, "      # %s\n", why)
		}
		fmt.Fprintf(b, "%s- %s\n", mark, p.text(one.Pattern))
	}
}

// limits are what is proposed for a pattern, and why.
type limits struct {
	maxTTL, maxHold time.Duration
	noTTL           bool
	why             []string
}

func (l *limits) text(pattern string) string {
	parts := []string{"pattern: " + strconv.Quote(pattern)}
	if prefix, whole := strings.CutSuffix(strings.ReplaceAll(pattern, `\`, ""), "*"); whole && scanner.PrefixPattern(prefix) == pattern {
		parts[0] = "prefix: " + strconv.Quote(prefix)
	}
	if l.noTTL {
		parts = append(parts, "no_ttl_allowed: true")
	}
	if l.maxTTL > 0 {
		parts = append(parts, "max_ttl: "+days(l.maxTTL))
	}
	if l.maxHold > 0 {
		parts = append(parts, "max_hold: "+days(l.maxHold))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// propose follows what the library does by design, and the TTLs seen.
func propose(f *discover.Found) (l limits) {
	const day = 24 * time.Hour
	if f.MaxTTL > 0 {
		l.maxTTL = roundedUp(2 * f.MaxTTL)
		l.why = append(l.why, "max_ttl is twice what was left of the longest TTL seen, or more.")
	}
	switch f.Library {
	case discover.CelerySingleton:
		l.noTTL, l.maxHold = true, day
		l.why = append(l.why, "It has no TTL unless lock_expiry is set: a worker that dies leaves it for ever, which max_hold finds.")
	case discover.RedissonSemaphore:
		l.noTTL = true
		l.why = append(l.why, "It is a number of permits that stays by design.")
	case discover.SidekiqUnique:
		l.noTTL = true
		l.why = append(l.why, "It has no TTL unless lock_ttl is set. It is a hash that no other lock is like: foreign_type tells of it; --checks can leave that out.")
	case discover.RedBeat:
		l.maxHold = 3650 * day
		l.why = append(l.why, "The leading beat holds it for as long as it runs.")
	case discover.BullMQ:
		l.maxHold = day
		l.why = append(l.why, "The worker renews it for as long as the job runs.")
	case discover.ShedLock:
		l.maxHold = cmp.Or(l.maxTTL, day)
		l.why = append(l.why, "max_hold is as max_ttl: nothing renews it, unless KeepAliveLockProvider is used.")
	default:
		if f.NoTTL > 0 {
			l.why = append(l.why, fmt.Sprintf("%d never expire: if that is by design, no_ttl_allowed: true says so.", f.NoTTL))
		}
	}
	return l
}

// roundedUp is the next duration that people use.
func roundedUp(d time.Duration) time.Duration {
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	for _, nice := range []time.Duration{minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 30 * day} {
		if d <= nice {
			return nice
		}
	}
	return (d + day - 1) / day * day
}

// days writes a duration as the configuration has it.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
