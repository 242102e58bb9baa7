package check

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"
)

// TestEither: of a tile with two queries one has a value at a time, and a text asks nothing.
func TestEither(t *testing.T) {
	const text = `{"uid": "b", "time": {"from": "now-3h", "to": "now"}, "panels": [
		{"type": "text", "title": "Advice"},
		{"type": "stat", "title": "Tile", "fieldConfig": {"defaults": {"unit": "suffix:callers"}},
		 "targets": [{"refId": "A", "expr": "calm", "instant": true}, {"refId": "B", "expr": "bad", "instant": true}]}]}`
	boards, err := Load(fstest.MapFS{"grafana/b.json": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprintf(vectorOf, time.Now().Unix(), "0.5")
	for name, test := range map[string]struct {
		calm, bad string
		problems  int
	}{"calm": {one, nothing, 0}, "bad": {nothing, one, 0}, "neither": {nothing, nothing, 1},
		"refused": {one, `{"status": "error", "error": "parse error"}`, 1}} {
		server := httptest.NewServer(&fake{answers: map[string]string{
			"/api/v1/query calm": test.calm, "/api/v1/query bad": test.bad}})
		_, problems := New(boards, nil, server.URL, server.URL).AskPanels(t.Context(), time.Minute)
		server.Close()
		if len(problems) != test.problems {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
