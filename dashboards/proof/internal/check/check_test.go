package check

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const boardText = `{
 "uid": "b", "time": {"from": "now-3h", "to": "now"},
 "templating": {"list": [
  {"type": "datasource", "name": "datasource", "query": "prometheus"},
  {"type": "query", "name": "job", "allValue": ".+", "query": {"query": "label_values({__name__=~\"a|b\"}, job)"}},
  {"type": "query", "name": "cluster", "allValue": ".*", "query": "label_values(nowhere, cluster)"},
  {"type": "query", "name": "resource", "query": "label_values(a{job=~\"$job\"}, resource)"}]},
 "annotations": {"list": [{"expr": "ALERTS{job=~\"$job\"}"}]},
 "panels": [
  {"type": "row", "title": "Row", "panels": [
   {"type": "stat", "title": "Folded", "targets": [{"refId": "A", "expr": "folded", "instant": true}],
    "fieldConfig": {"defaults": {"unit": "s"}}}]},
  {"type": "timeseries", "title": "Chart", "targets": [
    {"refId": "A", "expr": "a{resource=~\"$resource\"}[$__rate_interval]", "exemplar": true}],
   "fieldConfig": {"defaults": {"unit": "percentunit"}}},
  {"type": "alertlist", "title": "Alerts"},
  {"type": "logs", "title": "Logs", "datasource": {"type": "loki"}, "targets": [{"refId": "A", "expr": "{a=\"b\"}"}]},
  {"type": "heatmap", "title": "Map", "targets": [{"refId": "A", "expr": "map"}],
   "fieldConfig": {"defaults": {"unit": "s"}}},
  {"type": "table", "title": "Table", "targets": [
    {"refId": "A", "expr": "one", "instant": true}, {"refId": "B", "expr": "two", "instant": true}],
   "fieldConfig": {"defaults": {"unit": "short"}, "overrides": [
    {"matcher": {"id": "byName", "options": "First"}, "properties": [{"id": "unit", "value": "s"}]},
    {"matcher": {"id": "byName", "options": "Second"}, "properties": [
     {"id": "decimals", "value": 3}, {"id": "unit", "value": "percentunit"}]}]}}]}`

func board(t *testing.T) Board {
	t.Helper()
	boards, err := Load(fstest.MapFS{"grafana/b.json": {Data: []byte(boardText)}})
	if err != nil || len(boards) != 1 {
		t.Fatal(boards, err)
	}
	return boards[0]
}

func TestLoad(t *testing.T) {
	b := board(t)
	var got []string
	for _, p := range b.Panels {
		for _, q := range p.Queries {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s/%s/%s", p.Title, q.Title, q.Unit)))
		}
	}
	want := "Folded/Folded/s Chart/Chart/percentunit Map/Map/ops Table/First/s Table/Second/percentunit"
	if strings.Join(got, " ") != want || b.Span != 3*time.Hour || len(b.Variables) != 3 || b.Queries() != 5 {
		t.Errorf("%q, %+v", got, b)
	}
}

func TestLoadRefuses(t *testing.T) {
	for old, new := range map[string]string{"now-3h": "2026-01-01", "label_values(a": "values(a",
		`"uid": "b"`: `"uid": 7`} {
		files := fstest.MapFS{"grafana/b.json": {Data: []byte(strings.Replace(boardText, old, new, 1))}}
		if b, err := Load(files); err == nil {
			t.Errorf("%s: %+v", new, b)
		}
	}
	if _, err := Load(fstest.MapFS{}); err == nil {
		t.Error("no dashboards are some")
	}
}

func TestReplace(t *testing.T) {
	w := newWindow(3*time.Hour, time.Unix(1_000_007, 0))
	chosen := w.times()
	chosen["resource"] = escape(`a.b:*\|`)
	got, err := replace(`{r=~"$resource"}[$__rate_interval] $__range $__interval`, chosen)
	if want := `{r=~"a\\.b:\\*\\\\\\|"}[60s] 10800s 15s`; got != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := replace("$__from $job", chosen); err == nil || !strings.Contains(err.Error(), "$__from") ||
		!strings.Contains(err.Error(), "$job") {
		t.Error(err)
	}
	if w.to.Unix()%15 != 0 || w.to.Sub(w.from) != 3*time.Hour {
		t.Errorf("%+v", w)
	}
}

// fake answers like a Prometheus, by the beginning of an expression.
type fake struct {
	answers map[string]string // the "data" of the answer, or all of it

	mu    sync.Mutex
	asked []string
}

const (
	vectorOf = `{"resultType": "vector", "result": [{"metric": {"a": "b"}, "value": [%d, "%s"]}]}`
	nothing  = `{"resultType": "vector", "result": []}`
)

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.FormValue("query") + r.FormValue("match[]")
	f.mu.Lock()
	f.asked = append(f.asked, key)
	f.mu.Unlock()
	for begin, data := range f.answers {
		if strings.HasPrefix(r.URL.Path+" "+key, begin) {
			if !strings.Contains(data, `"status"`) {
				data = `{"status": "success", "data": ` + data + `}`
			}
			fmt.Fprint(w, data)
			return
		}
	}
	http.Error(w, "no such page", http.StatusNotFound)
}

func (f *fake) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// good answers everything plausibly.
func good() map[string]string {
	now := time.Now().Unix()
	one := fmt.Sprintf(vectorOf, now, "0.5")
	return map[string]string{
		"/api/v1/label/job/values":      `["shop"]`,
		"/api/v1/label/cluster/values":  `[]`,
		"/api/v1/label/resource/values": `["order:*", "x"]`,
		"/api/v1/query_exemplars":       `[{"exemplars": [{}]}]`,
		"/api/v1/query_range ALERTS":    one,
		"/api/v1/query folded":          fmt.Sprintf(`{"resultType": "scalar", "result": [%d, "1"]}`, now),
		"/api/v1/query_range a": fmt.Sprintf(
			`{"resultType": "matrix", "result": [{"metric": {}, "values": [[%d, "NaN"], [%d, "1"]]}]}`, now-15, now),
		"/api/v1/query_range map": one,
		"/api/v1/query one":       one,
		"/api/v1/query two":       one,
	}
}

func ask(t *testing.T, answers map[string]string) ([]Tally, []Problem, *fake) {
	t.Helper()
	f := &fake{answers: answers}
	server := httptest.NewServer(f)
	defer server.Close()
	c := New([]Board{board(t)}, map[string]string{"resource": "order:*"}, server.URL, server.URL)
	tallies, problems := c.AskPanels(t.Context(), time.Minute)
	return tallies, problems, f
}

func TestPlausibleAnswers(t *testing.T) {
	tallies, problems, f := ask(t, good())
	if len(problems) > 0 {
		t.Error(problems)
	}
	total := 0
	for _, of := range tallies {
		total += of.Values
	}
	if total != 5 { // the NaN does not count
		t.Errorf("%d numbers: %+v", total, tallies)
	}
	if all := strings.Join(f.all(), "\n"); !strings.Contains(all, `a{resource=~"order:\\*"}[60s]`) ||
		!strings.Contains(all, `a{job=~".+"}`) {
		t.Errorf("asked\n%s", all)
	}
}

func TestImplausibleAnswers(t *testing.T) {
	now := time.Now().Unix()
	for name, test := range map[string]struct{ key, answer, where, what string }{
		"empty":     {"/api/v1/query one", nothing, "b / Table / A First", "is empty"},
		"no number": {"/api/v1/query one", fmt.Sprintf(vectorOf, now, "NaN"), "b / Table / A First", "is empty"},
		"infinite": {"/api/v1/query_range map", fmt.Sprintf(vectorOf, now, "+Inf"), "b / Map / A",
			"not plausible"},
		"share above 1": {"/api/v1/query two", fmt.Sprintf(vectorOf, now, "1.03"), "b / Table / B Second",
			"not plausible"},
		"negative": {"/api/v1/query_range map", fmt.Sprintf(vectorOf, now, "-0.5"), "b / Map / A",
			"not plausible"},
		"too many s": {"/api/v1/query one", fmt.Sprintf(vectorOf, now, "500"), "b / Table / A First",
			"not plausible"},
		"yesterday": {"/api/v1/query one", fmt.Sprintf(vectorOf, now-86400, "1"), "b / Table / A First",
			"not plausible"},
		"tomorrow": {"/api/v1/query one", fmt.Sprintf(vectorOf, now+86400, "1"), "b / Table / A First",
			"not plausible"},
		"refused": {"/api/v1/query two", `{"status": "error", "errorType": "bad_data", "error": "parse error"}`,
			"b / Table / B Second", "fails"},
		"warned": {"/api/v1/query two", `{"status": "success", "warnings": ["half of it"], "data": ` +
			fmt.Sprintf(vectorOf, now, "1") + `}`, "b / Table / B Second", "fails"},
		"informed": {"/api/v1/query two", `{"status": "success", "infos": ["no counter"], "data": ` +
			fmt.Sprintf(vectorOf, now, "1") + `}`, "b / Table / B Second", "fails"},
		"no marks":       {"/api/v1/query_range ALERTS", nothing, "b / annotation", "is empty"},
		"no exemplars":   {"/api/v1/query_exemplars", `[]`, "b / Chart / exemplars", "is empty"},
		"not a choice":   {"/api/v1/label/resource/values", `["x"]`, "b / variables", "has no values"},
		"no values":      {"/api/v1/label/job/values", `[]`, "b / variables", "has no values"},
		"not Prometheus": {"/api/v1/query one", `"status"`, "b / Table / A First", "fails"},
	} {
		answers := good()
		answers[test.key] = test.answer
		_, problems, _ := ask(t, answers)
		if len(problems) != 1 || problems[0].Where != test.where || !strings.Contains(problems[0].What, test.what) {
			t.Errorf("%s: %q", name, problems)
		}
	}
}

func TestDefaulted(t *testing.T) {
	b := board(t)
	b.Panels = append(b.Panels, Panel{Title: "Zero",
		Queries: []Query{{Ref: "A", Expr: "count(x) or 0 * count(max by (lock_node) (x))", Unit: "short", Instant: true}}})
	for _, answer := range []string{nothing, fmt.Sprintf(vectorOf, time.Now().Unix(), "1")} {
		answers := good()
		answers["/api/v1/query count(x)"] = answer
		f := &fake{answers: answers}
		server := httptest.NewServer(f)
		problems := New([]Board{b}, map[string]string{"resource": "order:*"}, server.URL,
			server.URL).AskDefaulted(t.Context(), time.Minute)
		server.Close()
		if (answer == nothing) != (len(problems) == 1) {
			t.Errorf("%s: %v", answer, problems)
		}
		if all := f.all(); all[len(all)-1] != "count(x)" {
			t.Errorf("asked %s", all[len(all)-1])
		}
	}
}

func TestRules(t *testing.T) {
	const rule = `{"name": %q, "type": %q, "health": %q, "lastError": %q}`
	answers := map[string]string{
		"/api/v1/rules": fmt.Sprintf(`{"groups": [{"name": "g", "rules": [`+rule+","+rule+","+rule+","+rule+`]}]}`,
			"a:b", "recording", "ok", "", "c:d", "recording", "err", "many-to-many", "Alert", "alerting", "unknown", "",
			"e:f", "recording", "ok", ""),
		`/api/v1/query count({__name__="a:b"}`: fmt.Sprintf(vectorOf, time.Now().Unix(), "3"),
		`/api/v1/query count({__name__="c:d"}`: nothing,
		`/api/v1/query count({__name__="e:f"}`: nothing,
	}
	server := httptest.NewServer(&fake{answers: answers})
	defer server.Close()
	c := New(nil, nil, server.URL, server.URL)
	c.Quiet = []string{"e:f"}
	found, problems := c.AskRules(t.Context())
	if found != (Rules{Groups: 1, Recording: 3, Alerting: 1, Recorded: 1}) {
		t.Errorf("%+v", found)
	}
	told := fmt.Sprint(problems)
	for _, want := range []string{"g / c:d: health is err many-to-many", "g / Alert: health is unknown",
		"rule c:d: recorded no finite number"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %s", want, told)
		}
	}
	if len(problems) != 3 {
		t.Error(problems)
	}
}

func TestAlerts(t *testing.T) {
	server := httptest.NewServer(&fake{answers: map[string]string{
		"/api/v1/alerts": `{"alerts": [{"state": "firing", "labels": {"alertname": "Both", "severity": "critical"}},
			{"state": "firing", "labels": {"alertname": "NotArrived"}},
			{"state": "pending", "labels": {"alertname": "Pending"}}]}`,
		"/api/v2/alerts": `[{"status": {"state": "active"}, "labels": {"alertname": "Both", "severity": "critical"}},
			{"status": {"state": "suppressed"}, "labels": {"alertname": "NotArrived"}},
			{"status": {"state": "active"}, "labels": {"alertname": "Pending"}}]`,
	}})
	defer server.Close()
	all, err := New(nil, nil, server.URL, server.URL).AskAlerts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, p := range Missing(all, "Both", "NotArrived", "Pending", "Never") {
		missing = append(missing, p.Where)
	}
	if got := strings.Join(missing, ", "); got != "alert NotArrived, alert Pending, alert Never" {
		t.Error(got)
	}
}
