package scanner_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// sweepWith sweeps a server that has these keys. A command, if any, is given to it between.
func sweepWith(t *testing.T, keys []string, command ...any) report.Report {
	t.Helper()
	addr := locktest.Servers(t, 1)[0].Addr()
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	for _, key := range keys {
		must(t, client.Set(t.Context(), key, "x", 0).Err())
	}
	if len(command) > 0 {
		must(t, client.Do(t.Context(), command...).Err())
	}
	s, err := scanner.Open([]string{"redis://" + addr}, scanner.WithConfirmAfter(0))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	r, err := s.Sweep(t.Context())
	must(t, err)
	return r
}

// TestKeysThatNoResourceMayHave are found all the same: other libraries and earlier versions wrote them.
func TestKeysThatNoResourceMayHave(t *testing.T) {
	var keys []string
	for _, name := range []string{"a\u009b2J", "a\u202eb", "\xff"} {
		if lock.ValidateResource(name) == nil {
			t.Errorf("%q can be a resource", name)
		}
		keys = append(keys, "lock:"+name)
	}
	wantFindings(t, "odd keys", sweepWith(t, keys).Findings, `no_ttl "lock:a\u009b2J"`, `no_ttl "lock:a\u202eb"`,
		`no_ttl "lock:\xff"`)
}

// TestServerThatDoesNotTellItsKeyspace sweeps a server that refuses INFO.
func TestServerThatDoesNotTellItsKeyspace(t *testing.T) {
	r := sweepWith(t, []string{"lock:leak"}, "ACL", "SETUSER", "default", "-info")
	if len(r.Findings) != 1 || r.Findings[0].Class != inspect.NoTTL || r.Findings[0].Key != "lock:leak" {
		t.Errorf("%+v", r)
	}
}
