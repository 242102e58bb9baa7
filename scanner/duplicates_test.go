package scanner_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestShrinkingTable makes the server's table shrink during SCAN, which may then return a few keys again. TestPageTwice
// does not rely on luck.
func TestShrinkingTable(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	const keys, kept = 40_000, 500
	fill := func() {
		must(t, c.Eval(ctx, "for i = 1, ARGV[1] do redis.call('SET', 'lock:' .. i, '1') end return 1", nil, keys).Err())
	}
	// shrink deletes all but a few keys and waits until the server has made its table smaller.
	shrink := func() {
		must(t, c.Eval(ctx, "for i = ARGV[2] + 1, ARGV[1] do redis.call('DEL', 'lock:' .. i) end return 1", nil, keys,
			kept).Err())
		eventually(t, "the table has shrunk", func() bool { return tableBytes(ctx, t, c) < 100*kept })
	}
	for _, path := range paths() {
		fill()
		pages, appeared := 0, map[string]int{}
		s := newScanner(t, f.clients, scanner.UsePath(path), scanner.WithPageSize(100), scanner.WithMaxFindings(keys),
			scanner.WithOnFinding(func(f report.Finding) { appeared[f.Key]++ }),
			scanner.WithProgress(func(report.Progress) {
				if pages++; pages == shrinkAt {
					shrink()
				}
			}))
		report := sweep(t, s)
		if len(report.Findings) != kept || report.Overflow != 0 || len(appeared) != kept {
			t.Errorf("%s: %d findings, %d overflow, %d appeared; want %d, 0, %d", path, len(report.Findings),
				report.Overflow, len(appeared), kept, kept)
		}
		for key, n := range appeared {
			if n != 1 {
				t.Errorf("%s: %s appeared %d times", path, key, n)
			}
		}
	}
}

// shrinkAt is the number of pages of 100 keys after which the table shrinks.
const shrinkAt = 150

// tableBytes is the size of the server's table: some 40 bytes a key, and 8 for each of its 65536 initial buckets.
func tableBytes(ctx context.Context, t testing.TB, c redis.UniversalClient) int64 {
	t.Helper()
	reply, err := c.Do(ctx, "EVAL", `
		local function find(list, name)
			for i = 1, #list, 2 do if list[i] == name then return list[i + 1] end end
		end
		return find(find(redis.call('MEMORY', 'STATS'), 'db.0'), 'overhead.hashtable.main')`, 0).Int64()
	must(t, err)
	return reply
}
