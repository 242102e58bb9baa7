package scanner_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockscope/lockscope/scanner"
)

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
