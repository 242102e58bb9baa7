package redisproc_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		helper() // as the process that orphan_linux_test.go kills
	}
	leaktest.Main(m)
}

// withinTest bounds the waits of a test.
func withinTest(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, opts ...redisproc.Option) *redisproc.Server {
	t.Helper()
	s, err := redisproc.Start(withinTest(t), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, s.Stop()) })
	return s
}

// client does not retry, so that the test sees the server's own answers.
func client(t *testing.T, s *redisproc.Server) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantValue(t *testing.T, c redis.Cmdable, key, want string) {
	t.Helper()
	got, err := c.Get(withinTest(t), key).Result()
	if err != nil || got != want {
		t.Fatalf("GET %s = %q, %v; want %q", key, got, err, want)
	}
}

// eventually polls until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx := withinTest(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}

// helperEnv makes the test binary start a server, print its address and wait to be killed.
const helperEnv = "REDISPROC_TEST_HELPER"

func helper() {
	s, err := redisproc.Start(context.Background())
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(s.Addr())
	if os.Getenv(helperEnv) == "panic" {
		panic("on purpose")
	}
	select {} // no timer or signal handler: SIGKILL ends it
}
