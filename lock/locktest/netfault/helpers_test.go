package netfault_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func wantTimeout(t *testing.T, err error) {
	t.Helper()
	if !isTimeout(err) {
		t.Fatalf("error = %v, want a timeout", err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func wantValue(t *testing.T, c *redis.Client, key, want string) {
	t.Helper()
	if got, err := c.Get(t.Context(), key).Result(); err != nil || got != want {
		t.Fatalf("GET %s = %q, %v; want %q", key, got, err, want)
	}
}

// connections returns how many clients the server has, including the one that asks.
func connections(t *testing.T, c *redis.Client) int {
	list, err := c.ClientList(t.Context()).Result()
	must(t, err)
	return strings.Count(list, "\n")
}

// eventually polls until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx := within(t, 30*time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}
