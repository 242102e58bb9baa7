package serve

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/lock"
)

// TestStampsTell whether a file was replaced, removed or written.
func TestStampsTell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	s := &sweeping{files: stampsOf([]string{path})}
	if got := s.changed(); got != "" {
		t.Errorf("a file that was never there has changed: %s", got)
	}
	cmdtest.Must(t, os.WriteFile(path, []byte("a"), 0o600))
	if got := s.changed(); got != path {
		t.Error("it appeared")
	}
	s.files = s.stampsNow()
	cmdtest.Must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Minute)))
	if got := s.changed(); got != path {
		t.Error("it was written")
	}
}

// closing fails when it is closed.
type closing struct {
	lock.Locker
	before func()
}

var errClosing = errors.New("the connection did not end")

func (c closing) Close() error { c.before(); return errClosing }

// TestReloadThatCannotEndTheOld: the new groups are in use all the same, and pings follow them before the old ones end.
func TestReloadThatCannotEndTheOld(t *testing.T) {
	followed := false
	old, next := config.Groups{{Name: "old", Locker: closing{before: func() {
		if !followed {
			t.Error("pings still go to the old clients")
		}
	}}}}, config.Groups{}
	s := &sweeping{now: old, build: func(config.Groups) (config.Groups, stamps, error) { return next, nil, nil }}
	left, err := s.reload(func(config.Groups) { followed = true })
	if !errors.Is(left, errClosing) || err != nil || !followed || !s.Reload().Successful {
		t.Errorf("left %v, error %v, followed %v, %+v", left, err, followed, s.Reload())
	}
}
