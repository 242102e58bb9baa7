package scanner_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestMemoryOfTwoProcesses has two Scanners use one store. Each says so when it would have replaced what the other one
// saved, and leaves that once. A Scanner that is alone again saves as before.
func TestMemoryOfTwoProcesses(t *testing.T) {
	f := startNodes(t, 2)
	ctx := within(t)
	for name, store := range stores(t, f.clients) {
		must(t, f.clients[0].Del(ctx, "lock:1", "lock:2", "lock:3").Err())
		opts := []scanner.Option{scanner.WithMemory(store), scanner.WithEmptyAllowed()}
		first, second := newScanner(t, f.clients, opts...), newScanner(t, f.clients, opts...)
		sweep(t, first)
		sweep(t, second) // has loaded what the first saved, and saves
		for i, s := range []*scanner.Scanner{first, second} {
			before, err := store.Load(ctx)
			must(t, err)
			must(t, f.clients[0].Set(ctx, "lock:"+string(rune('1'+i)), redsyncValue, 0).Err())
			if _, err := s.Sweep(ctx); !errors.Is(err, scanner.ErrMemoryShared) || !strings.Contains(err.Error(), "--state") {
				t.Errorf("%s: process %d replaces what the other one saved: %v", name, i+1, err)
			}
			after, err := store.Load(ctx)
			must(t, err)
			if !bytes.Equal(before, after) {
				t.Errorf("%s: process %d changed what the other one saved", name, i+1)
			}
			sweep(t, s) // nothing has changed: it makes up for the save that failed
			if after, err = store.Load(ctx); err != nil || bytes.Equal(before, after) {
				t.Errorf("%s: process %d did not save afterwards: %v", name, i+1, err)
			}
		}
		must(t, first.Close())
		must(t, f.clients[0].Set(ctx, "lock:3", redsyncValue, 0).Err())
		sweep(t, second)
		if n := second.Snapshot().MemoryFailures; n != 1 {
			t.Errorf("%s: %d failures counted, want 1", name, n)
		}
	}
}

// fullStore fails to save while it is full.
type fullStore struct {
	scanner.Store
	full bool
}

var errFull = errors.New("no space left on device")

func (s *fullStore) Save(ctx context.Context, data []byte) error {
	if s.full {
		return errFull
	}
	return s.Store.Save(ctx, data)
}

// TestMemoryOnAFullDisk: what could not be saved is saved by the next sweep that can, although nothing has changed.
func TestMemoryOnAFullDisk(t *testing.T) {
	f := startNodes(t, 1)
	store := &fullStore{Store: scanner.FileStore(filepath.Join(t.TempDir(), "state.json"))}
	s := newScanner(t, f.clients, scanner.WithMemory(store), scanner.WithEmptyAllowed())
	sweep(t, s)
	must(t, f.clients[0].Set(within(t), "lock:a", redsyncValue, 0).Err())
	store.full = true
	for range 2 {
		report, err := s.Sweep(within(t))
		if !errors.Is(err, errFull) {
			t.Errorf("a sweep that cannot save: %v", err)
		}
		wantFindings(t, "on a full disk", report.Findings, "no_ttl lock:a")
	}
	store.full = false
	sweep(t, s)
	data, err := store.Load(within(t))
	must(t, err)
	if !bytes.Contains(data, []byte(`"no_ttl"`)) || s.Snapshot().MemoryFailures != 2 {
		t.Errorf("%d failures; saved is %s", s.Snapshot().MemoryFailures, data)
	}
}

// TestMemoryRemovesWhatWasLeft by processes that died while they saved, and nothing else.
func TestMemoryRemovesWhatWasLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	old, fresh := path+".123456.tmp", path+".654321.tmp"
	others := []string{path + ".bak.tmp", path + ".1.old", filepath.Join(dir, "other.json.123.tmp")}
	for _, name := range append([]string{old, fresh}, others...) {
		must(t, os.WriteFile(name, []byte("half"), 0o600))
		if name != fresh {
			must(t, os.Chtimes(name, time.Time{}, time.Now().Add(-2*time.Hour)))
		}
	}
	must(t, scanner.FileStore(path).Save(t.Context(), []byte("whole")))
	for _, name := range append([]string{path, fresh}, others...) {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", old, err)
	}
}

// TestMemoryAfterAClockStep sets the clock back between two processes. The ages of findings and holders go on from
// where they were: they neither shrink nor jump. Later steps do not move them either, because the restored times have
// a reading of the monotonic clock.
func TestMemoryAfterAClockStep(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	store := scanner.FileStore(filepath.Join(t.TempDir(), "state.json"))
	var clk clock
	must(t, c.Set(ctx, "lock:leak", redsyncValue, 0).Err())
	start := func() *scanner.Scanner {
		return newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithMemory(store),
			scanner.WithHoldLimit(time.Hour), scanner.WithChecks(inspect.NoTTL, inspect.HeldTooLong))
	}
	look := func(s *scanner.Scanner) report.Report {
		must(t, c.HSet(ctx, "lock:redisson", redissonID+":7", 1).Err())
		must(t, c.Expire(ctx, "lock:redisson", 30*time.Second).Err())
		return sweep(t, s)
	}
	s := start()
	look(s)
	clk.pass(40 * time.Minute)
	look(s)
	must(t, s.Close())

	clk.pass(-3 * time.Hour)
	s = start()
	report := look(s)
	wantFindings(t, "after the step", report.Findings, "no_ttl lock:leak")
	leak := report.Findings[0]
	if age := clk.now().Sub(leak.FirstSeen); age < 40*time.Minute || age > 41*time.Minute {
		t.Errorf("the leak was seen 40 min ago; after the step it says %v", age)
	}
	if !strings.Contains(leak.FirstSeen.String(), " m=") {
		t.Errorf("%v is a time of the wall clock, which can be set", leak.FirstSeen)
	}
	clk.pass(40 * time.Minute)
	wantFindings(t, "80 minutes of holding", look(s).Findings, "no_ttl lock:leak", "held_too_long lock:redisson")
}
