package apply

import (
	"context"
	_ "embed" // the script
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

//go:embed reader.lua
var readerLua string

// ofReader reports whether a finding is about readers of a read/write lock.
func ofReader(f *ledger.Entry) bool {
	return f.Type == keyreader.Hash && f.Hold.Format == report.FormatLockscope
}

// readerArgs are the arguments of reader.lua.
func (c *change) readerArgs() []any {
	ofKey := "0"
	if c.finding.Class == report.NoTTL {
		ofKey = "1"
	}
	return []any{c.finding.Identity, c.leastMillis(), c.mostMillis(), c.act(), c.dry(), ofKey}
}

// mostMillis is more than what may be left of an orphan's time. A reader that was renewed since it was seen has a
// process that is alive, and that may have lost some of its nodes only for a moment.
func (c *change) mostMillis() int64 {
	f := c.finding
	if f.Class != report.Orphan || f.TTL < 0 {
		return -1
	}
	return mostTTL(f, c.now).Milliseconds()
}

// byReaderScript acts on one reader, or on the TTL of all.
func (c *change) byReaderScript(ctx context.Context) (repair.Outcome, time.Duration, error) {
	outcome, ttl, err := c.run(ctx, readerLua, c.readerArgs())
	if err != nil && refusedScript(err) {
		err = fmt.Errorf("%w: readers are repaired by a script: grant the rules of RepairACL: %w",
			repair.ErrNotRepairable, err)
	}
	return outcome, ttl, err
}
