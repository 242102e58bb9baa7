package keyreader

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
)

// TestGlobMatchesAsRedis compares with a server, on patterns of all special characters.
func TestGlobMatchesAsRedis(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { c.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "c", "-", "*", "?", "[", "]", "^", `\`, "[a-c]", "[^a]", "[c-a]", `[\]a]`, "[a", "[]",
		"[^]", "é", "\x00"}
	text := func(n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	var keys []string
	for range 300 {
		key := text(5)
		keys = append(keys, key)
		if err := c.Set(t.Context(), key, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for range 2000 {
		pattern := text(6)
		want, err := c.Keys(t.Context(), pattern).Result()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		var got []string
		for _, key := range keys {
			if Matches(pattern, key) {
				got = append(got, key)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pattern %q matches %q, on a server %q", pattern, got, want)
		}
	}
}

func TestGlobIsNotExponential(t *testing.T) {
	began := time.Now()
	Matches(strings.Repeat("a*", 100)+"b", strings.Repeat("a", 10_000))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestEscapeGlob(t *testing.T) {
	for text, want := range map[string]string{"lock:": "lock:", "a*b?[c]": `a\*b\?\[c\]`, `back\slash`: `back\\slash`} {
		if got := Escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
