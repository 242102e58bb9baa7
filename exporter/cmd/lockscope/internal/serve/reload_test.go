package serve

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
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
