//go:build linux

package history_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// TestCutLastLine: what a killed worker was writing may be cut off, and nothing else.
func TestCutLastLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	w, err := history.Create(path)
	must(t, err)
	w.Write(history.Event{T: 1, Kind: history.Call})
	w.Write(history.Event{T: 2, Kind: history.Return, Fence: 1 << 60})
	must(t, w.Close())
	whole, err := history.Read[history.Event](path, false)
	must(t, err)
	if len(whole) != 2 || whole[1].Fence != 1<<60 {
		t.Errorf("read %v", whole)
	}

	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, text[:len(text)-5], 0o600))
	if cut, err := history.Read[history.Event](path, true); err != nil || len(cut) != 1 {
		t.Errorf("of a killed worker: %v, %v", cut, err)
	}
	if _, err := history.Read[history.Event](path, false); err == nil {
		t.Error("a worker that was not killed has cut its last line, and nobody minds")
	}
	must(t, os.WriteFile(path, append([]byte("{\n"), text...), 0o600))
	if _, err := history.Read[history.Event](path, true); err == nil {
		t.Error("a line in the middle is broken, and nobody minds")
	}
}

func TestNowAdvances(t *testing.T) {
	if a, b := history.Now(), history.Now(); a <= 0 || b < a {
		t.Errorf("%d, then %d", a, b)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
