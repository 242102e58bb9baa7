package fleet_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
)

// TestReadViews asks each page for a view of it, once, as the policy allows.
func TestReadViews(t *testing.T) {
	page := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s?%s", r.URL.Path, r.URL.RawQuery)
	})
	moved := served(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, page, http.StatusFound) })
	gone := httptest.NewServer(nil)
	gone.Close()
	pages := []string{page + "/", page, page, moved, gone.URL + "/debug/locks", "http://user:pw@" + page[len("http://"):]}
	views, omitted := fleet.ReadViews(t.Context(), fleet.AnyHost(), pages, "history", url.Values{"from": {"-10m"}})
	if len(views) != 5 || omitted != 0 {
		t.Fatalf("%d views, %d omitted", len(views), omitted)
	}
	for _, v := range views {
		status, redirected := errors.AsType[*fleet.StatusError](v.Err)
		switch v.Page {
		case page, page + "/":
			if v.Err != nil || string(v.Body) != "/debug/locks/history?from=-10m" {
				t.Errorf("%s: %q, %v", v.Page, v.Body, v.Err)
			}
		case moved:
			if !redirected || status.Status != http.StatusFound {
				t.Errorf("redirect: %v", v.Err)
			}
		case gone.URL + "/debug/locks":
			if v.Err == nil || v.Body != nil {
				t.Errorf("a page that is gone: %q, %v", v.Body, v.Err)
			}
		default:
			if !errors.Is(v.Err, fleet.ErrNoAddress) {
				t.Errorf("with a password: %v", v.Err)
			}
		}
	}
	views, _ = fleet.ReadViews(t.Context(), policy(t, "*.orders.svc"), []string{page}, "history", nil)
	if !errors.Is(views[0].Err, fleet.ErrNotAllowed) {
		t.Errorf("a page that is not allowed: %v", views[0].Err)
	}
}

// TestReadManyViews: pages beyond the limit are counted.
func TestReadManyViews(t *testing.T) {
	var pages []string
	for i := range fleet.MaxPages + 3 {
		pages = append(pages, fmt.Sprintf("http://10.0.0.1:%d/debug/locks", i+1))
	}
	views, omitted := fleet.ReadViews(t.Context(), fleet.Policy{}, pages, "history", nil)
	if len(views) != fleet.MaxPages || omitted != 3 {
		t.Errorf("%d views, %d omitted", len(views), omitted)
	}
}
