package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestMain keeps go-redis from reporting the planted faults by itself, as main does. A
// pool whose dials all failed looks once a second whether it was closed.
func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit),
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// outcome is what one run of the program left behind.
type outcome struct {
	status   int
	out, err string
}

// command runs the program in this process.
func command(t *testing.T, args ...string) outcome { return commandWith(t, nil, "", args...) }

func commandWith(t *testing.T, environ []string, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	status := run(ctx, args, environ, strings.NewReader(stdin), &out, &errOut)
	return outcome{status, out.String(), errOut.String()}
}

func (o outcome) want(t *testing.T, status int, says ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("exit %d, want %d\nstdout:\n%s\nstderr:\n%s", o.status, status, o.out, o.err)
	}
	for _, text := range says {
		if !strings.Contains(o.out+o.err, text) {
			t.Errorf("%q is not in\nstdout:\n%s\nstderr:\n%s", text, o.out, o.err)
		}
	}
}

func (o outcome) wantNot(t *testing.T, secrets ...string) {
	t.Helper()
	for _, text := range secrets {
		if strings.Contains(o.out+o.err, text) {
			t.Errorf("%q is in\nstdout:\n%s\nstderr:\n%s", text, o.out, o.err)
		}
	}
}

func (o outcome) decode(t *testing.T, v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(o.out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v in\n%s", err, o.out)
	}
}

func admin(t *testing.T, s *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func set(t *testing.T, c redis.Cmdable, key, value string, ttl time.Duration) {
	t.Helper()
	must(t, c.Set(t.Context(), key, value, ttl).Err())
}

// vouchFor lets new servers vote at once.
func vouchFor(t *testing.T, servers ...*redisproc.Server) {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, admin(t, s))
	}
	must(t, redlock.Vouch(t.Context(), clients))
}

func addrs(servers ...*redisproc.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Addr())
	}
	return strings.Join(all, ",")
}

// eventually waits for a condition of another process.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// ours is a value as package redlock writes it; its token is a secret.
const (
	secretToken = "00112233445566778899aabbccddeeff"
	ours        = secretToken + ":1763000000000001|worker-7/42|1763000000000||"
)
