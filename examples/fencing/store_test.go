package main

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"sync"
	"testing"
)

// databases are those this machine can run: SQLite always, PostgreSQL where it is
// installed.
func databases(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"SQLite": filepath.Join(t.TempDir(), "accounts.db")}
	if dsn, ok := startPostgres(t); ok {
		found["PostgreSQL"] = dsn
	} else {
		t.Log("no PostgreSQL server is installed: testing SQLite only")
	}
	return found
}

const opened = 100

func openTest(t *testing.T, dsn, table string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Create(t.Context(), account, opened); err != nil {
		t.Fatal(err)
	}
	return s
}

func want(t *testing.T, s *Store, balance int64, fence uint64) {
	t.Helper()
	a, err := s.Look(context.WithoutCancel(t.Context()), account)
	if err != nil || a.Balance != balance || a.Fence != fence {
		t.Errorf("balance %d, fence %d, %v; want %d, %d", a.Balance, a.Fence, err, balance, fence)
	}
}

func TestStore(t *testing.T) {
	for name, dsn := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("TakesEqualAndHigherTokens", func(t *testing.T) { testOrder(t, openTest(t, dsn, "t1")) })
			t.Run("ReadersRaiseTheToken", func(t *testing.T) { testRead(t, openTest(t, dsn, "t2")) })
			t.Run("ConcurrentWriters", func(t *testing.T) { testConcurrent(t, openTest(t, dsn, "t3")) })
			t.Run("BadInput", func(t *testing.T) { testBadInput(t, openTest(t, dsn, "t4")) })
			t.Run("TableOfSomebodyElse", func(t *testing.T) { testTaken(t, dsn) })
		})
	}
}

func testOrder(t *testing.T, s *Store) {
	steps := []struct {
		fence   uint64
		balance int64
		err     error
	}{
		{10, 1, nil},
		{10, 2, nil}, // the same holder writes twice
		{9, 3, ErrStale},
		{0, 4, ErrStale},
		{11, 5, nil},
		{10, 6, ErrStale}, // for good
		{math.MaxInt64, 7, nil},
		{11, 8, ErrStale},
	}
	balance, fence := int64(opened), uint64(0)
	for _, step := range steps {
		err := s.Update(t.Context(), step.fence, account, step.balance)
		if !errors.Is(err, step.err) || step.err == nil && err != nil {
			t.Errorf("token %d: %v, want %v", step.fence, err, step.err)
		}
		if step.err == nil {
			balance, fence = step.balance, step.fence
		}
		want(t, s, balance, fence)
	}
}

func testRead(t *testing.T, s *Store) {
	ctx := t.Context()
	if a, err := s.Read(ctx, 10, account); err != nil || a.Balance != opened || a.Fence != 10 {
		t.Errorf("%+v, %v", a, err)
	}
	if err := s.Update(ctx, 9, account, 1); !errors.Is(err, ErrStale) {
		t.Errorf("after a read with 10, a write with 9: %v", err)
	}
	if _, err := s.Read(ctx, 9, account); !errors.Is(err, ErrStale) {
		t.Errorf("after a read with 10, a read with 9: %v", err)
	}
	want(t, s, opened, 10)
}

// testConcurrent lets many writers write with tokens in any order: the highest
// must win, whatever came last.
func testConcurrent(t *testing.T, s *Store) {
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				fence := uint64(1 + i*writers + (w*5)%writers)
				err := s.Update(t.Context(), fence, account, int64(fence)*1000)
				if err != nil && !errors.Is(err, ErrStale) {
					t.Errorf("token %d: %v", fence, err)
				}
			}
		})
	}
	wg.Wait()
	want(t, s, writers*each*1000, writers*each)
}

func testBadInput(t *testing.T, s *Store) {
	ctx := t.Context()
	if err := s.Update(ctx, math.MaxInt64+1, account, 1); err == nil || errors.Is(err, ErrStale) {
		t.Errorf("a token that does not fit: %v", err)
	}
	if err := s.Update(ctx, 1, "nobody", 1); !errors.Is(err, ErrNoAccount) {
		t.Errorf("update of no account: %v", err)
	}
	if _, err := s.Read(ctx, 1, "nobody"); !errors.Is(err, ErrNoAccount) {
		t.Errorf("read of no account: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Update(ended, 1, account, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("update with an ended context: %v", err)
	}
	want(t, s, opened, 0)
}

// testTaken checks that Open leaves alone what it did not make.
func testTaken(t *testing.T, dsn string) {
	s := openTest(t, dsn, "t5")
	if other, err := Open(t.Context(), dsn, "t5"); err == nil {
		t.Error("opened a table that was there", other.Close())
	}
	want(t, s, opened, 0)
}
