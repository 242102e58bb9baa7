package scanner_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner"
)

// TestKeysThatNoResourceMayHave are found all the same: other libraries and earlier versions wrote them.
func TestKeysThatNoResourceMayHave(t *testing.T) {
	server := miniredis.RunT(t)
	for _, name := range []string{"a\u009b2J", "a\u202eb", "\xff"} {
		if lock.ValidateResource(name) == nil {
			t.Errorf("%q can be a resource", name)
		}
		must(t, server.Set("lock:"+name, "x"))
	}
	s, err := scanner.Open([]string{"redis://" + server.Addr()}, scanner.WithConfirmAfter(0))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	report, err := s.Sweep(t.Context())
	must(t, err)
	wantFindings(t, "odd keys", report.Findings, `no_ttl "lock:a\u009b2J"`, `no_ttl "lock:a\u202eb"`,
		`no_ttl "lock:\xff"`)
}

// TestServerThatDoesNotTellItsKeyspace sweeps a server that refuses INFO keyspace.
func TestServerThatDoesNotTellItsKeyspace(t *testing.T) {
	server := miniredis.RunT(t)
	must(t, server.Set("lock:leak", "x"))
	s, err := scanner.Open([]string{"redis://" + server.Addr()}, scanner.WithConfirmAfter(0))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	report, err := s.Sweep(t.Context())
	must(t, err)
	if len(report.Findings) != 1 || report.Findings[0].Class != scanner.NoTTL || report.Findings[0].Key != "lock:leak" {
		t.Errorf("%+v", report)
	}
}
