package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m)
}

// TestRun is a row of each kind, too short for its numbers to mean anything.
func TestRun(t *testing.T) {
	var stdout, stderr strings.Builder
	args := []string{"-for", "20ms", "-stretches", "1", "-rows", "p50, 1 node|5 nodes, 64|, 2 lockers|8 callers"}
	if status := run(t.Context(), args, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	t.Log("\n" + stdout.String())
	table := cells(stdout.String())
	for name, filled := range map[string][]string{
		"pair, p50, 1 node": {"lockscope", "redsync", "redislock", "go-redis", "AutoPipeline", "fenced"},
		"pairs/s, 5 nodes, 64 callers": {"lockscope", "redsync", "redsync failfast", "go-redis",
			"AutoPipeline", "fenced"},
		"hand-offs/s, 1 node, 2 lockers, hold 0 ms": {"lockscope", "redsync", "redsync tuned", "redislock",
			"redislock tuned", "BLPOP", "message"},
		"hand-offs/s, 5 nodes, 2 lockers, hold 0 ms": {"lockscope", "redsync", "redsync tuned", "BLPOP", "message"},
		"acquisitions/s, 1 node, 1 process, 8 callers, hold 1 ms": {
			"lockscope", "redsync", "redsync tuned", "redislock", "redislock tuned", "BLPOP", "sync.Mutex"},
	} {
		row, ok := table[name]
		if !ok {
			t.Errorf("there is no row %q", name)
			continue
		}
		for i, peer := range table["work"] {
			if want := slices.Contains(filled, peer); want != (row[i] != "") {
				t.Errorf("%s, %s: %q", name, peer, row[i])
			}
		}
	}
	if len(table) != 1+5 {
		t.Errorf("%d lines in the table", len(table))
	}
}

// cells are the cells of each line after the first, which is its key.
func cells(markdown string) map[string][]string {
	table := make(map[string][]string)
	for line := range strings.Lines(markdown) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		texts := strings.Split(strings.Trim(line, "|\n"), "|")
		for i := range texts {
			texts[i] = strings.TrimSpace(texts[i])
		}
		table[texts[0]] = texts[1:]
	}
	return table
}

func TestRunRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-for", "0s"}, {"-for", "soon"}, {"-stretches", "0"}, {"-rtt", "-1ms"}, {"-rows", "no such row"},
		{"-rows", "("}, {"1ms"},
	} {
		var stdout, stderr strings.Builder
		if status := run(t.Context(), args, &stdout, &stderr); status != 2 || stdout.Len() > 0 {
			t.Errorf("%q: status %d, %q", args, status, &stdout)
		}
		if !strings.Contains(stderr.String(), "-h shows all flags") {
			t.Errorf("%q: %q", args, &stderr)
		}
	}
}

func TestRunHelps(t *testing.T) {
	var stdout, stderr strings.Builder
	if status := run(t.Context(), []string{"-h"}, &stdout, &stderr); status != 0 ||
		!strings.Contains(stdout.String(), "-rtt") {
		t.Errorf("status %d, %q, %q", status, &stdout, &stderr)
	}
}
