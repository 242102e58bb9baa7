package views

import (
	_ "embed"
	"net/http"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/live/state"
)

//go:embed assets/history.html
var historyHTML string

//go:embed assets/history.css
var historyCSS string

// The script is in parts for people to read; browsers get it as one.
var (
	//go:embed assets/tables.js
	tablesJS string
	//go:embed assets/history.js
	historyJS string
)

// waitHistory has the waits of the last hour.
type waitHistory interface {
	WaitHistory(from, to time.Time) state.WaitHistory
}

// historyView answers who waited for whom in a span of time, as a page or as JSON.
type historyView struct {
	source waitHistory
	page   page.Asset
}

func history(source any) (View, bool) {
	s, ok := source.(waitHistory)
	if !ok {
		return View{}, false
	}
	return View{"history", &historyView{s, page.NewAsset(historyHTML, historyCSS, page.TextJS, tablesJS, historyJS)}}, true
}

// ServeHTTP implements http.Handler. A time of day is in the time zone of this process.
func (v *historyView) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.page.Secure(w.Header())
	if !readOnly(w, r) {
		return
	}
	w.Header().Set("Vary", "Accept")
	switch format(r) {
	case "html":
		v.page.Serve(w, r)
	case "json":
		s, ok := spanOf(w, r)
		if !ok {
			return
		}
		writeJSON(w, http.StatusOK, v.source.WaitHistory(s.from, s.to))
	default:
		fail(w, http.StatusBadRequest, "unknown format: use html or json")
	}
}

// format is what the query asks for, or else what the client prefers.
func format(r *http.Request) string {
	if query := r.URL.Query(); query.Has("format") {
		return query.Get("format")
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		return "json"
	}
	return "html"
}

// spanOf reads the parameters from and to, or answers why it cannot.
func spanOf(w http.ResponseWriter, r *http.Request) (span, bool) {
	query := r.URL.Query()
	s, err := parseSpan(query.Get("from"), query.Get("to"), time.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
	}
	return s, err == nil
}
