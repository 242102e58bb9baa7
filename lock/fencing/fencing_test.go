package fencing_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/fencing"
	"github.com/lockscope/lockscope/lock/memlock"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoToken: what is no token is refused before anything is sent. Real databases are in package pglock and in
// examples/fencing.
func TestNoToken(t *testing.T) {
	for _, fence := range []uint64{0, math.MaxInt64 + 1} {
		if err := fencing.Guard(t.Context(), nil, "order:1001", fence); !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("%d: %v", fence, err)
		}
		if err := fencing.GuardMySQL(t.Context(), nil, "order:1001", fence); !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("%d: %v", fence, err)
		}
	}
	err := fencing.GuardMySQL(t.Context(), nil, strings.Repeat("x", lock.MaxResourceLength+1), 1)
	if !errors.Is(err, lock.ErrInvalidResource) {
		t.Errorf("a name that is too long: %v", err)
	}
	for _, values := range [][]string{nil, {"7", "8"}, {"0"}, {"-1"}, {"x"}, {""}, {"9223372036854775808"}} {
		if _, err := fencing.FromHeader(http.Header{fencing.Header: values}); !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("%q: %v", values, err)
		}
	}
}

// TestOnlyTransactionsAreGuarded: on a *sql.DB each statement is a transaction of its own, and the writes after Guard would
// be outside of that.
func TestOnlyTransactionsAreGuarded(t *testing.T) {
	if _, ok := any((*sql.Tx)(nil)).(fencing.Tx); !ok {
		t.Error("a *sql.Tx is refused")
	}
	for _, pool := range []any{(*sql.DB)(nil), (*sql.Conn)(nil)} {
		if _, ok := pool.(fencing.Tx); ok {
			t.Errorf("a %T is taken for a transaction", pool)
		}
	}
}

func ExampleSetHeader() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lock.Do(context.Background(), locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://billing/orders/1001", nil)
		if err != nil {
			return err
		}
		fencing.SetHeader(r.Header, lease)

		fence, err := fencing.FromHeader(r.Header) // in the handler of the service
		fmt.Println(fence == lease.Fence())
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: true
}
