package exporter_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/internal/livetest"
)

// TestLinkToTheFleet leads from a live page to the page of all processes: its own, or that of another process.
func TestLinkToTheFleet(t *testing.T) {
	idle := exporter.WithState(livetest.Fixed(livetest.Idle()))
	for want, opts := range map[string][]exporter.Option{
		`"fleet":"fleet"`: {idle, exporter.WithFleet(http.NotFoundHandler())},
		`"fleet":"https://locks.example.com/debug/locks/fleet"`: {idle,
			exporter.WithFleetURL("https://locks.example.com/debug/locks/fleet")},
		`"views":[]`: {idle},
	} {
		_, text := get(newExporter(t, opts...), "/debug/locks?format=json")
		if !strings.Contains(text, want) || strings.Contains(text, `"fleet"`) != strings.Contains(want, "fleet") {
			t.Errorf("the page's document is %s, want %s in it", text, want)
		}
	}
	for _, address := range []string{"javascript:alert(1)", "https://me:secret@example.com/", "/debug/locks/fleet",
		"http:"} {
		if _, err := exporter.New(exporter.WithFleetURL(address)); !errors.Is(err, exporter.ErrInvalidOption) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
