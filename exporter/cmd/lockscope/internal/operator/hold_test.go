package operator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

// ended is a lease that has ended for a cause, or has not, and what its release answers.
type ended struct {
	lock.Lease
	cause, release error
}

func (e *ended) Context() context.Context {
	if e.cause == nil {
		return context.Background()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(e.cause)
	return ctx
}

func (e *ended) Release(context.Context) error { return e.release }

// TestHoldSaysReleasedOnlyIfItIs: the exit status, what is printed and the audit log agree.
func TestHoldSaysReleasedOnlyIfItIs(t *testing.T) {
	unknown, expired := &lock.ReleaseError{Outcome: lock.OutcomeUnknown}, &lock.ReleaseError{Outcome: lock.OutcomeExpired}
	for name, c := range map[string]struct {
		lease    ended
		released bool
	}{
		"ctrl-c":                                 {ended{}, true},
		"ctrl-c without a quorum":                {ended{release: unknown}, false},
		"ctrl-c after the nodes lost it":         {ended{release: expired}, false},
		"--for is over":                          {ended{cause: lock.ErrMaxHold}, true},
		"--for is over, and its TTL":             {ended{cause: lock.ErrMaxHold, release: expired}, true},
		"--for is over, the servers are silent":  {ended{cause: lock.ErrMaxHold, release: unknown}, false},
		"lost":                                   {ended{cause: lock.ErrLost, release: unknown}, false},
		"lost, and the nodes answer the release": {ended{cause: lock.ErrLost}, false},
	} {
		path, out := filepath.Join(t.TempDir(), "log"), new(strings.Builder)
		log, err := Open(path, "ann", new(strings.Builder))
		if err != nil {
			t.Fatal(err)
		}
		a := &ui.App{Out: out, ErrOut: new(strings.Builder)}
		err = (&holding{holdFlags: &holdFlags{name: "nightly", output: ui.JSON}, app: a, log: log}).end(&c.lease)
		status, says := 0, strings.Contains(out.String(), `"released"`)
		if of, ok := errors.AsType[*ui.StatusError](err); ok {
			status = of.Status
		}
		logged, readErr := os.ReadFile(path)
		if err := errors.Join(readErr, log.Close()); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: servers.ExitNoLock}[c.released]; status != want || (err == nil) != c.released {
			t.Errorf("%s: status %d, want %d: %v", name, status, want, err)
		}
		if says != c.released || strings.Contains(string(logged), "outcome=released") != c.released {
			t.Errorf("%s: it prints %q, and logs %s", name, out, logged)
		}
	}
}
