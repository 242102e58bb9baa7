package views

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// asked records the span that it is asked for.
type asked struct {
	from, to time.Time
	chains   []state.WaitChain
}

func (a *asked) WaitHistory(from, to time.Time) state.WaitHistory {
	a.from, a.to = from, to
	return state.WaitHistory{Instance: "orders-1", From: from, To: to, Blockers: []state.PastBlocker{}}
}

func (a *asked) WaitChains(from, to time.Time) []state.WaitChain {
	a.from, a.to = from, to
	return a.chains
}

func askView(t *testing.T, h http.Handler, method, target, accept string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func viewOf(t *testing.T, source any, name string) http.Handler {
	t.Helper()
	for _, v := range Of(source) {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no view %s", name)
	return nil
}

// TestHistoryFormats: browsers get the page, programs the document.
func TestHistoryFormats(t *testing.T) {
	h := viewOf(t, &asked{}, "history")
	const page, document = "text/html; charset=utf-8", "application/json; charset=utf-8"
	for _, c := range []struct {
		target, accept, want string
		status               int
	}{
		{"/", "text/html,application/xhtml+xml,*/*;q=0.8", page, 200},
		{"/?from=-5m", "*/*", page, 200},
		{"/", "application/json", document, 200},
		{"/?format=json&from=-5m", "text/html", document, 200},
		{"/?format=html", "application/json", page, 200},
		{"/?format=xml", "", document, 400},
		{"/?format=json&from=noon", "", document, 400},
		{"/?format=json&from=-5m&to=-6m", "", document, 400},
	} {
		r, body := askView(t, h, http.MethodGet, c.target, c.accept)
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != c.want {
			t.Errorf("%s with Accept %q: %d %s\n%.200s", c.target, c.accept, r.StatusCode, r.Header.Get("Content-Type"),
				body)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: headers %v", c.target, r.Header)
		}
		if c.status != 200 && !strings.Contains(body, `{"error":"`) {
			t.Errorf("%s: %s", c.target, body)
		}
	}
	r, _ := askView(t, h, http.MethodPost, "/", "")
	if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") == "" {
		t.Errorf("POST: %d, %v", r.StatusCode, r.Header)
	}
}

// TestHistorySpan: the source is asked for what the address says.
func TestHistorySpan(t *testing.T) {
	source := &asked{}
	for _, view := range []string{"history", "flame"} {
		h := viewOf(t, source, view)
		askView(t, h, http.MethodGet, "/?format=json", "")
		if ago := time.Since(source.to); source.to.Sub(source.from) != 10*time.Minute || ago > time.Minute {
			t.Errorf("%s: by default from %v to %v", view, source.from, source.to)
		}
		askView(t, h, http.MethodGet, "/?format=json&from=-1h&to=-30m", "")
		if source.to.Sub(source.from) != 30*time.Minute || time.Since(source.to) < 29*time.Minute {
			t.Errorf("%s: from %v to %v", view, source.from, source.to)
		}
	}
}

// TestHistoryPage: nothing but its own style and script is allowed, and neither is written in the markup.
func TestHistoryPage(t *testing.T) {
	h := viewOf(t, &asked{}, "history")
	r, body := askView(t, h, http.MethodGet, "/", "text/html")
	policy := r.Header.Get("Content-Security-Policy")
	for tag, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		inside := regexp.MustCompile(`(?s)<` + tag + `>(.*)</` + tag + `>`).FindStringSubmatch(body)
		if inside == nil {
			t.Fatalf("no %s in the page", tag)
		}
		hash := sha256.Sum256([]byte(inside[1]))
		if !strings.Contains(policy, directive+" 'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'") {
			t.Errorf("the policy does not allow the page's %s: %s", tag, policy)
		}
	}
	if found := regexp.MustCompile(`\s(style|on[a-z]+)=`).FindString(historyHTML); found != "" {
		t.Errorf("the policy forbids %s in the markup", found)
	}
	markup := regexp.MustCompile(`innerHTML|insertAdjacentHTML|\.write\(|eval\(`)
	if found := markup.FindString(tablesJS + historyJS); found != "" {
		t.Errorf("the script uses %s", found)
	}
	w := httptest.NewRecorder()
	again := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	again.Header.Set("If-None-Match", r.Header.Get("ETag"))
	if h.ServeHTTP(w, again); w.Code != http.StatusNotModified {
		t.Errorf("revalidation: %d", w.Code)
	}
}

// TestPalette: the page has the colours of the live page.
func TestPalette(t *testing.T) {
	live, err := os.ReadFile("../page/assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, colour := range regexp.MustCompile(`(?m)^  --[a-z-]+: light-dark\(.*\);$`).FindAllString(historyCSS, -1) {
		if !strings.Contains(string(live), colour) {
			t.Errorf("the live page does not have %s", strings.TrimSpace(colour))
		}
	}
}

// TestBoardHasViews: a Board without waits has an empty history, with no null lists.
func TestBoardHasViews(t *testing.T) {
	board, err := live.New(live.WithInstance("orders-1"))
	if err != nil {
		t.Fatal(err)
	}
	_, body := askView(t, viewOf(t, board, "history"), http.MethodGet, "/?format=json", "")
	var d state.WaitHistory
	if err := json.Unmarshal([]byte(body), &d); err != nil || d.Instance != "orders-1" || strings.Contains(body, "null") {
		t.Errorf("%v: %s", err, body)
	}
	if len(Of(struct{}{})) != 0 {
		t.Error("a source without a history has a view")
	}
}
