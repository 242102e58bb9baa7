package page_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/internal/page"
)

// TestFleetPage is for browsers; whoever does not ask for HTML gets the data.
func TestFleetPage(t *testing.T) {
	h := page.Fleet(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("data")) }))
	for _, test := range []struct {
		target, accept string
		page           bool
	}{
		{"/", "", false},
		{"/", "*/*", false},
		{"/", "application/json", false},
		{"/", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"/?format=json", "text/html", false},
		{"/?format=html", "*/*", true},
	} {
		r := ask(h, http.MethodGet, test.target, test.accept)
		text := body(t, r)
		if isPage := strings.HasPrefix(text, "<!doctype html>"); isPage != test.page || !isPage && text != "data" {
			t.Errorf("%s with Accept %q: %.40q", test.target, test.accept, text)
		}
		if csp := r.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'sha256-") {
			t.Errorf("%s: policy %q", test.target, csp)
		}
	}
}

// TestViews are named in the document, as the page of all processes is.
func TestViews(t *testing.T) {
	var got struct {
		Views []string
		Fleet string
	}
	h := page.New(livetest.Fixed(livetest.Idle()), page.WithViews("profile", "trace"), page.WithFleet("fleet"))
	must(t, json.Unmarshal([]byte(body(t, ask(h, http.MethodGet, "/", "application/json"))), &got))
	if strings.Join(got.Views, " ") != "profile trace" || got.Fleet != "fleet" {
		t.Errorf("%+v", got)
	}
	text := body(t, ask(page.New(livetest.Fixed(livetest.Idle())), http.MethodGet, "/", "application/json"))
	if !strings.Contains(text, `"views":[]`) || strings.Contains(text, `"fleet"`) ||
		!strings.Contains(text, `"sets":[]`) || !strings.Contains(text, `"stalls":[]`) {
		t.Errorf("a process without views has %s", text)
	}
}
