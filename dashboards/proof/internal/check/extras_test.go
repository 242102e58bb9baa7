package check

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"
)

// TestMarksByTheMinute: a mark of two minutes is found on a board of a day, whose charts have a point every two
// minutes.
func TestMarksByTheMinute(t *testing.T) {
	boards, err := Load(fstest.MapFS{"grafana/b.json": {Data: []byte(
		`{"uid": "b", "time": {"from": "now-24h", "to": "now"}, "annotations": {"list": [{"expr": "started < 120"}]}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	steps := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		steps <- r.FormValue("step")
		w.Write([]byte(`{"status": "success", "data": ` + nothing + `}`))
	}))
	defer server.Close()
	New(boards, nil, server.URL, server.URL).AskPanels(t.Context(), time.Minute)
	if step := <-steps; step != "60" {
		t.Errorf("step %s", step)
	}
}
