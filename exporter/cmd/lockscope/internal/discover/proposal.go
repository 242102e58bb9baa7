package discover

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
)

const proposalHead = `# Suggested by lockscope discover. Read it before you use it: its limits follow what was seen.
#   lockscope config check --connect FILE
#   lockscope scan --config FILE
`

const proposalEmpty = `
# Locks come and go: a pattern without a key is no gap. Without this line, a sweep is incomplete
# (no_match) while one of the patterns has no lock.
allow_empty: true

`

// proposal is a configuration of what was found. It has no password.
func (f *discoverFlags) proposal(all []looked) string {
	c := &f.servers.Redis.Config
	var b strings.Builder
	b.WriteString(proposalHead)
	if slices.ContainsFunc(all, func(l looked) bool { return l.besideRedis() || len(specificFirst(l.found)) > 0 }) {
		b.WriteString(proposalEmpty)
	}
	b.WriteString("groups:\n")
	for i := range all {
		if l := &all[i]; l.besideRedis() {
			groupBeside(&b, l, f.servers.Others.Fields(l.backend, c.TLS))
		} else {
			group(&b, c, l)
		}
	}
	return b.String()
}

// group writes a group of one server: a sample does not show whether several are nodes of one Redlock.
func group(b *strings.Builder, c *servers.RedisConfig, l *looked) {
	fmt.Fprintf(b, "  - name: %s\n", strconv.Quote(l.node))
	switch {
	case c.SentinelMaster != "":
		fmt.Fprintf(b, "    redis: [] # add the Sentinels here\n    sentinel_master: %s\n",
			strconv.Quote(c.SentinelMaster))
	default:
		fmt.Fprintf(b, "    redis: [%s]\n", strconv.Quote(servers.URL(l.redis)))
		if c.Cluster {
			b.WriteString("    cluster: true\n")
		}
	}
	b.WriteString("    # Put the nodes of one Redlock into one group with redlock: true.\n")
	if c.Username != "" {
		fmt.Fprintf(b, "    username: %s\n", strconv.Quote(c.Username))
	}
	if path, err := filepath.Abs(c.PasswordFile); c.PasswordFile != "" && err == nil {
		fmt.Fprintf(b, "    password_file: %s\n", strconv.Quote(path))
	} else {
		b.WriteString("    # password_file: redis-password\n")
	}
	patterns(b, l.found)
}

// patterns writes those that are sure, with limits that suit all locks they match, and the
// others as comments.
func patterns(b *strings.Builder, found []discover.Found) {
	sure := specificFirst(found)
	if len(sure) > 0 {
		b.WriteString("    patterns:\n")
	} else {
		b.WriteString("    # patterns: # discover found only guesses; without patterns, lock:* is read\n")
	}
	for _, of := range sure {
		l := propose(of)
		fmt.Fprintf(b, "      # %s\n", summary(of))
		others := beside(of, found)
		for _, other := range others {
			fmt.Fprintf(b, "      # Also %s\n", summary(other))
			more := propose(other)
			more.noTTL = more.noTTL && lookedFor(other) // a guess hides no leak
			l = l.with(more)
		}
		if len(others) > 0 {
			l.why = append(l.why, "Several libraries use this pattern: the longest limit counts.")
		}
		l.write(b, "      ", of.Pattern)
	}
	for i := range found {
		if of := &found[i]; !lookedFor(of) && !covered(of, sure) {
			fmt.Fprintf(b, "      # %s\n", summary(of))
			l := propose(of)
			l.write(b, "      # ", of.Pattern)
		}
	}
}

func summary(f *discover.Found) string {
	return fmt.Sprintf("%s, %s: %s. %s seen, TTL %s.", f.Library, f.Confidence, f.Evidence, inspect.Count(f.Keys, "key"),
		ttlRange(f))
}

// lookedFor says whether a sweep has something to find there: no guess, no pattern of many keys that are no locks, and
// no hash that no other lock is like, which is a foreign_type however healthy it is.
func lookedFor(f *discover.Found) bool {
	return f.Confidence > inspect.Low && f.Others == 0 && !f.Foreign
}

// specificFirst are the surest of each pattern, in the order in which a sweep tries them: a pattern within another one
// comes before it, as the first that matches decides.
func specificFirst(found []discover.Found) (sure []*discover.Found) {
	seen := make(map[string]bool)
	for i := range found {
		if f := &found[i]; lookedFor(f) && !seen[f.Pattern] {
			seen[f.Pattern] = true
			sure = append(sure, f)
		}
	}
	slices.SortStableFunc(sure, func(a, b *discover.Found) int {
		return cmp.Compare(literal(b.Pattern), literal(a.Pattern))
	})
	return sure
}

// literal returns how many characters of a key the pattern fixes.
func literal(pattern string) int { return len(strings.NewReplacer(`\`, "", "*", "").Replace(pattern)) }

// beside returns the other libraries whose locks get the limits of this pattern: those
// with the same or a wider pattern, and those within it without a pattern of their own.
func beside(of *discover.Found, found []discover.Found) (others []*discover.Found) {
	for i := range found {
		f := &found[i]
		if f != of && (f.Covers(of.Example) || !lookedFor(f) && of.Covers(f.Example)) {
			others = append(others, f)
		}
	}
	return others
}

// covered reports whether a pattern of the configuration also matches these locks.
func covered(f *discover.Found, sure []*discover.Found) bool {
	return slices.ContainsFunc(sure, func(of *discover.Found) bool { return of.Covers(f.Example) })
}

func ttlRange(f *discover.Found) string {
	text := ""
	switch {
	case f.MaxTTL == 0:
		return "never"
	case f.MinTTL == f.MaxTTL || inspect.Short(f.MinTTL) == inspect.Short(f.MaxTTL):
		text = inspect.Short(f.MaxTTL)
	default:
		text = inspect.Short(f.MinTTL) + " to " + inspect.Short(f.MaxTTL)
	}
	if f.NoTTL > 0 {
		text += fmt.Sprintf(", %d never", f.NoTTL)
	}
	return text
}

// groupBeside writes a group of one system beside Redis. What scan would read by a prefix is a comment where it would
// report what is healthy.
func groupBeside(b *strings.Builder, o *looked, fields []servers.Field) {
	fmt.Fprintf(b, "  - name: %s\n", strconv.Quote(o.backend+" "+o.node))
	own := map[string]string{"etcd_prefix": lock.DefaultPrefix, "zookeeper_root": zklock.DefaultRoot}
	has := make(map[string]bool)
	for _, f := range fields {
		fmt.Fprintf(b, "    %s: %s\n", f.Name, f.Value)
		if text, err := strconv.Unquote(f.Value); err == nil {
			own[f.Name] = text
		}
		has[f.Name] = true
	}
	switch {
	case o.backend == "zookeeper":
		b.WriteString("    # zookeeper_auth_file: zookeeper-auth\n")
	case !has["password_file"]:
		fmt.Fprintf(b, "    # password_file: %s-password\n", o.backend)
	}
	var sure, rest []*discover.Found
	for i := range o.found {
		f := &o.found[i]
		if toRead(o.backend, f, own) {
			sure = append(sure, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		b.WriteString("    # Also seen. It needs no prefix, or healthy keys beside the locks would be findings:\n")
	}
	for _, f := range rest {
		fmt.Fprintf(b, "    #   %s, %s\n", strconv.Quote(f.Pattern), summaryOfSystem(f))
	}
	if len(sure) > 0 {
		b.WriteString("    prefixes:\n")
	}
	written := make(map[string]bool)
	for _, f := range sure {
		fmt.Fprintf(b, "      # %s\n", summaryOfSystem(f))
		if !written[f.Pattern] {
			fmt.Fprintf(b, "      - %s\n", strconv.Quote(f.Pattern))
		}
		written[f.Pattern] = true
	}
}

// toRead says whether a prefix is proposed for what was found. In etcd every key below it without a lease is a finding,
// so it has to be a folder of locks; in ZooKeeper only places in queues are.
func toRead(system string, f *discover.Found, own map[string]string) bool {
	switch system {
	case "etcd":
		folders := []discover.Library{"concurrency.Mutex", "concurrency.Election", "python-etcd3", discover.Lockscope}
		return f.Pattern != "" && slices.Contains(folders, f.Library) && !strings.HasPrefix(f.Pattern, own["etcd_prefix"])
	case "zookeeper":
		root := own["zookeeper_root"]
		return f.Pattern != "/" && f.Pattern != root && !strings.HasPrefix(f.Pattern, root+"/")
	}
	return false
}

func summaryOfSystem(f *discover.Found) string {
	never := ""
	if f.NoTTL > 0 {
		never = fmt.Sprintf(", %d never expire", f.NoTTL)
		if f.NoTTL == 1 {
			never = ", 1 never expires"
		}
	}
	return fmt.Sprintf("%s, %s: %s. %s seen%s.", f.Library, f.Confidence, f.Evidence, inspect.Count(f.Keys, "lock"), never)
}
