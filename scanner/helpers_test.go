package scanner_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// Values as the libraries write them.
const (
	token        = "0123456789abcdef0123456789abcdef"
	redsyncValue = "8Q5xLzCgV2rEJwJ7yYtSIA=="
	redislockVal = "hTYMdGE4tKPBgV8bdmV0Nw" + "region=eu"
	redissonID   = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	shedLockUUID = "5c2f1f86-6f26-4d1d-9c28-0d2f5a1f4b0a"
)

// tokenOf returns another value for each key, like a random number generator.
func tokenOf(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key)))[:32] }

// redsyncOf returns another value for each key, as redsync writes it. None of them looks like a constant.
func redsyncOf(key string) string {
	text, sum := "", sha256.Sum256([]byte(key))
	for i, b := range sum[:21] {
		text += string([]byte{'a' + b%26, 'A' + b%26, '0' + b%10}[i%3])
	}
	return text + "A=="
}

// randomToken is a value as redsync writes it.
func randomToken() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

func lockscopeValue(tok string, since time.Time) string {
	return fmt.Sprintf("%s:17|web-3/4711|%d|00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01|a.1", tok,
		since.UnixMilli())
}

func shedLockValue(since time.Time) string {
	return "ADDED:" + since.UTC().Format("2006-01-02T15:04:05.000Z") + "@batch-7:" + shedLockUUID
}

// waitTime bounds a test that would wait forever.
const waitTime = 30 * time.Second

// within bounds the waits of a test.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nodes are real servers, each with a client.
type nodes struct {
	servers []*redisproc.Server
	clients []redis.UniversalClient
}

// startNodes makes the test one of several at a time: they wait for servers more than they compute.
func startNodes(t testing.TB, n int, opts ...redisproc.Option) *nodes {
	t.Helper()
	if t, ok := t.(*testing.T); ok {
		t.Parallel()
	}
	f := &nodes{servers: locktest.Servers(t, n, opts...)}
	for _, s := range f.servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		t.Cleanup(func() { _ = c.Close() })
		f.clients = append(f.clients, c)
	}
	return f
}

// fast are options for tests without unnecessary waits. The waits of repairs have tests of their own.
func fast(opts ...scanner.Option) []scanner.Option {
	base := []scanner.Option{scanner.WithPause(0), scanner.WithConfirmAfter(10 * time.Millisecond),
		scanner.WithRepairMinAge(0)}
	return append(base, opts...)
}

func newScanner(t testing.TB, clients []redis.UniversalClient, opts ...scanner.Option) *scanner.Scanner {
	t.Helper()
	s, err := scanner.New(clients, fast(opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func sweep(t testing.TB, s *scanner.Scanner) report.Report {
	t.Helper()
	report, err := s.Sweep(within(t))
	must(t, err)
	return report
}

// brief is the part of a finding that tests compare.
func brief(findings []report.Finding) []string {
	all := []string{}
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s %s", f.Class, inspect.KeyText(f.Key)))
	}
	slices.Sort(all)
	return all
}

func wantFindings(t testing.TB, what string, got []report.Finding, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(brief(got), want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(brief(got), "; "), strings.Join(want, "; "))
	}
}

// find returns the only finding of that class and key.
func find(t testing.TB, findings []report.Finding, class inspect.Class, key string) report.Finding {
	t.Helper()
	for _, f := range findings {
		if f.Class == class && f.Key == key {
			return f
		}
	}
	t.Fatalf("no finding %s %s in %v", class, inspect.KeyText(key), brief(findings))
	return report.Finding{}
}

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

// eventually polls until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(waitTime); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// asNode returns a node's error from the errors of a sweep.
func asNode(t testing.TB, err error, node string) *report.NodeError {
	t.Helper()
	var one *report.NodeError
	if !errors.As(err, &one) || one.Node != node {
		t.Fatalf("error %v, want a NodeError of %s", err, node)
	}
	return one
}

func reportOf(t testing.TB, r report.Report, node string) report.NodeReport {
	t.Helper()
	for _, n := range r.Nodes {
		if n.Node == node {
			return n
		}
	}
	t.Fatalf("no report of %s", node)
	return report.NodeReport{}
}
