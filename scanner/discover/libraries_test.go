package discover_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/discover"
	"github.com/lockscope/lockscope/scanner/report"
)

// Values of keys that are no strings.
type (
	hash      map[string]any
	sortedSet []string
	set       []string
)

// specimen is a lock as a library writes it while it is held, and what must be known of it. Its comment names the
// repository and files of the library that show the form.
type specimen struct {
	language, library string
	key               string
	value             any           // string, hash, sortedSet or set
	ttl               time.Duration // 0: the library sets none. Less than a minute is a minute, for a busy machine
	beside            map[string]any

	as     discover.Library // "": not recognised
	sure   inspect.Confidence
	holder string        // what a finding shows of the holder
	alarm  inspect.Class // what a sweep finds while the lock is held as it should be; "": nothing
}

// libraries are the rows of README.md's table, in its order.
func libraries() []specimen {
	return slices.Concat(goLocks(), javaLocks(), nodeLocks(), pythonLocks(), rubyLocks(), netLocks(), phpLocks(),
		otherLocks(), programLocks())
}

func (s *specimen) plant(t *testing.T, c redis.Cmdable, ttl time.Duration) {
	t.Helper()
	must(t, c.FlushAll(t.Context()).Err())
	for key, value := range s.beside {
		write(t, c, key, value, time.Minute)
	}
	write(t, c, s.key, s.value, ttl)
}

func write(t *testing.T, c redis.Cmdable, key string, value any, ttl time.Duration) {
	t.Helper()
	ctx := t.Context()
	switch value := value.(type) {
	case hash:
		must(t, c.HSet(ctx, key, map[string]any(value)).Err())
	case sortedSet:
		for i, member := range value {
			must(t, c.ZAdd(ctx, key, redis.Z{Score: float64(time.Now().UnixMilli() + int64(i)), Member: member}).Err())
		}
	case set:
		must(t, c.SAdd(ctx, key, []string(value)).Err())
	default:
		must(t, c.Set(ctx, key, value, 0).Err())
	}
	if ttl > 0 {
		must(t, c.PExpire(ctx, key, ttl).Err())
	}
}

// leaked is what a sweep finds once nobody will release the lock: its TTL is gone, or there never was one.
func (s *specimen) leaked() inspect.Class {
	if s.alarm == inspect.LongTTL {
		return inspect.NoTTL
	}
	return cmp.Or(s.alarm, inspect.NoTTL)
}

// TestLibraries samples and sweeps each lock alone: while it is held, and without the TTL that the library sets.
func TestLibraries(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	sweeper, err := scanner.New([]redis.UniversalClient{c}, scanner.WithPatterns("*"), scanner.WithPause(0),
		scanner.WithConfirmAfter(time.Millisecond), scanner.WithTTLLimit(48*time.Hour))
	must(t, err)
	defer sweeper.Close()
	for _, s := range libraries() {
		t.Run(s.library, func(t *testing.T) {
			s.plant(t, c, s.ttl)
			s.check(t, sample(t, c, discover.Options{}).Found, s.ttl == 0)
			s.swept(t, sweeper, s.alarm)
			s.explained(t, c)
			s.plant(t, c, 0)
			if s.sure > inspect.Low {
				s.check(t, sample(t, c, discover.Options{}).Found, true)
			}
			s.swept(t, sweeper, s.leaked())
		})
	}
}

// explained wants the same of the key alone, without its value.
func (s *specimen) explained(t *testing.T, c *redis.Client) {
	t.Helper()
	x, err := discover.Explain(t.Context(), c, s.key)
	must(t, err)
	if x.Library != s.as || s.as != "" && x.Confidence != s.sure || (x.TTL < 0) != (s.ttl == 0) || x.Helper {
		t.Errorf("explained as %+v", x)
	}
	want := s.alarm
	if s.ttl > scanner.DefaultTTLLimit { // this sweep allows two days
		want = inspect.LongTTL
	}
	if class, _, _ := strings.Cut(x.Finding, ":"); class != string(want) {
		t.Errorf("explain says %q, want %q", x.Finding, want)
	}
	if value, ok := s.value.(string); ok && x.Holder == "" && len(value) > 8 && strings.Contains(fmt.Sprint(x), value) {
		t.Errorf("the value is shown: %+v", x)
	}
}

// wholePatterns are patterns that follow from how a library names its keys, and not from the keys that were seen.
var wholePatterns = map[string]string{
	"RedLock.net": "redlock:*", "asynq": "asynq:{*}:unique:*", "Laravel": "laravel_database_laravel_cache_:*",
	"ShedLock": `job\-lock:default:*`, "sidekiq-unique-jobs": "uniquejobs:*:LOCKED", "BullMQ": "bull:mail:*:lock",
	"celery-singleton": "SINGLETONLOCK_*", "redbeat": "redbeat::lock", "Redisson lock": "order:*",
}

func (s *specimen) check(t *testing.T, found []discover.Found, noTTL bool) {
	t.Helper()
	if s.as == "" {
		if len(found) != 0 {
			t.Errorf("claimed: %+v", found)
		}
		return
	}
	if len(found) != 1 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	f := found[0]
	if f.Library != s.as || f.Confidence != s.sure || f.Example != s.key || !f.Covers(s.key) || f.Keys != 1 ||
		f.Evidence == "" || (f.NoTTL == 1) != noTTL || !noTTL && (f.MaxTTL > s.ttl || f.MaxTTL < s.ttl-30*time.Second) {
		t.Errorf("want %s, %s, no TTL %v: %+v", s.as, s.sure, noTTL, f)
	}
	if want, ok := wholePatterns[s.library]; ok && f.Pattern != want {
		t.Errorf("pattern %s, want %s", f.Pattern, want)
	}
	if value, ok := s.value.(string); ok && len(value) > 10 && strings.Contains(fmt.Sprintf("%+v", f), value) {
		t.Errorf("the result tells the value: %+v", f)
	}
}

// TestPatternsSuitTheLibraries sweeps each lock beside keys of other kinds, with the patterns that were found and with
// what is known of missing TTLs by design: there is nothing to report.
func TestPatternsSuitTheLibraries(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	for _, s := range libraries() {
		if s.sure < inspect.Medium || s.alarm == inspect.ForeignType || s.alarm == inspect.LongTTL {
			continue
		}
		t.Run(s.library, func(t *testing.T) {
			s.plant(t, c, s.ttl)
			for _, n := range noLocks() {
				write(t, c, n.key, n.value, n.ttl)
			}
			found := sample(t, c, discover.Options{}).Found
			if len(found) != 1 || found[0].Others != 0 {
				t.Fatalf("%+v", found)
			}
			sweeper, err := scanner.New([]redis.UniversalClient{c}, scanner.WithPatterns(found[0].Pattern),
				scanner.WithPause(0), scanner.WithConfirmAfter(time.Millisecond), scanner.WithTTLLimit(48*time.Hour),
				scanner.WithPolicies(report.Policy{Pattern: "*", NoTTLAllowed: found[0].Lasting}))
			must(t, err)
			defer sweeper.Close()
			report, err := sweeper.Sweep(t.Context())
			must(t, err)
			if len(report.Findings) > 0 || report.Nodes[0].Locks != 1 {
				t.Errorf("%s: %+v, %d locks", found[0].Pattern, report.Findings, report.Nodes[0].Locks)
			}
		})
	}
}

// swept checks the findings about the lock, and what they show of its holder.
func (s *specimen) swept(t *testing.T, sweeper *scanner.Scanner, want inspect.Class) {
	t.Helper()
	r, err := sweeper.Sweep(t.Context())
	must(t, err)
	var about []report.Finding
	for _, f := range r.Findings {
		if f.Key == s.key {
			about = append(about, f)
		}
	}
	switch {
	case want == "" && len(about) == 0:
	case len(about) != 1 || about[0].Class != want:
		t.Errorf("a sweep finds %+v, want %q", about, want)
	case about[0].Hold.Instance != s.holder:
		t.Errorf("the holder is %q, want %q", about[0].Hold.Instance, s.holder)
	}
}

// TestLibrariesAreInTheReadme holds the table to the specimens: no row without a lock, and no lock without a row.
func TestLibrariesAreInTheReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	must(t, err)
	var rows []string
	table, _, _ := strings.Cut(string(text), "## Add a library")
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| library") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, s := range libraries() {
		want = append(want, s.row())
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the table is not that of the specimens, which is:\n%s", strings.Join(want, "\n"))
	}
	if n := fmt.Sprintf("%d kinds of locks", len(want)); !strings.Contains(string(text), n) {
		t.Errorf("README.md does not say %q", n)
	}
}

func (s *specimen) row() string {
	kind := "string"
	switch s.value.(type) {
	case hash:
		kind = "hash"
	case sortedSet:
		kind = "sorted set"
	case set:
		kind = "set"
	}
	as, holder, leak := "no", "no", "by its missing TTL"
	if s.as != "" {
		as = fmt.Sprintf("%s, %s", s.as, s.sure)
	}
	if s.holder != "" {
		holder = "yes"
	}
	switch s.alarm {
	case inspect.NoTTL:
		leak = "no, it never has a TTL"
	case inspect.ForeignType:
		leak = "no, always `foreign_type`"
	}
	key := strings.ReplaceAll(s.key, "|", `\|`)
	return fmt.Sprintf("| %s | %s | `%s` | %s | %s | %s | %s |", s.library, s.language, key, kind, as, holder, leak)
}

// TestSpecimensDiffer finds a library that is listed twice.
func TestSpecimensDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range libraries() {
		if name := s.language + " " + s.library; seen[name] {
			t.Errorf("%s is there twice", name)
		} else {
			seen[name] = true
		}
	}
}
