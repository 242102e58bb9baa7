package validate

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	process = `{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"p"}}`
	named   = process + `,{"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":2,"args":{"name":"t"}}`
	slice   = `{"name":"a","ph":"X","ts":0,"dur":10,"pid":1,"tid":2}`
)

func arrow(phase, id, at string) string {
	return `{"name":"n","cat":"c","ph":"` + phase + `","id":"` + id + `","ts":` + at + `,"pid":1,"tid":2,"bp":"e"}`
}

// TestMistakes: each breaks one rule of the format, or one that viewers need.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"valid", named + `,` + slice, ""},
		{"a valid arrow", named + `,` + slice + `,` + arrow("s", "1", "0") + `,` + arrow("f", "1", "9.999"), ""},
		{"no number", `{"name":"a","ph":"X","ts":"1","dur":0,"pid":1,"tid":2}`, "no number"},
		{"no duration", named + `,{"name":"a","ph":"X","ts":0,"pid":1,"tid":2}`, "no dur"},
		{"no time", named + `,{"name":"a","ph":"i","s":"t","pid":1,"tid":2}`, "no ts"},
		{"no thread", named + `,{"name":"a","ph":"i","s":"t","ts":1,"pid":1}`, "no tid"},
		{"no name", named + `,{"ph":"i","s":"t","ts":1,"pid":1,"tid":2}`, "no name"},
		{"negative", named + `,{"name":"a","ph":"X","ts":0,"dur":-1,"pid":1,"tid":2}`, "negative"},
		{"picoseconds", named + `,{"name":"a","ph":"X","ts":0.0001,"dur":1,"pid":1,"tid":2}`, "whole number"},
		{"begin and end", named + `,{"name":"a","ph":"B","ts":0,"pid":1,"tid":2}`, "phase"},
		{"no scope", named + `,{"name":"a","ph":"i","ts":0,"pid":1,"tid":2}`, "scope"},
		{"unknown metadata", `{"name":"colour","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"p"}}`, "metadata"},
		{"wrong argument", `{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":1}}`, "argument"},
		{"twice named", named + `,` + process, "twice"},
		{"nameless thread", process + `,` + slice, "no name"},
		{"a thread of two processes", named + `,` + slice + `,{"name":"a","ph":"X","ts":0,"dur":1,"pid":3,"tid":2}`,
			"of processes"},
		{"overlap", named + `,` + slice + `,{"name":"b","ph":"X","ts":5,"dur":6,"pid":1,"tid":2}`, "ends 1000 ns after"},
		{"an arrow from nowhere", named + `,` + slice + `,` + arrow("f", "1", "1"), "point 1 of 1"},
		{"two starts", named + `,` + slice + `,` + arrow("s", "1", "1") + `,` + arrow("s", "1", "2"), "point 2 of 2"},
		{"back in time", named + `,` + slice + `,` + arrow("s", "1", "2") + `,` + arrow("f", "1", "1"), "back in time"},
		{"outside", named + `,` + slice + `,` + arrow("s", "1", "2") + `,` + arrow("f", "1", "10"), "no slice is around"},
		{"color", named + `,{"name":"a","ph":"X","ts":0,"dur":1,"pid":1,"tid":2,"cname":"pink"}`, "color"},
		{"field of another phase", named + `,{"name":"a","ph":"X","ts":0,"dur":1,"pid":1,"tid":2,"s":"t"}`,
			"another phase"},
		{"unknown field", `{"name":"a","ph":"X","duration":1}`, "unknown field"},
	} {
		_, errs := Read([]byte(`{"displayTimeUnit":"ms","otherData":{},"traceEvents":[` + c.events + `]}`))
		switch {
		case c.want == "" && len(errs) > 0, c.want != "" && len(errs) == 0:
			t.Errorf("%s: %v", c.name, errs)
		case c.want != "" && !strings.Contains(errs[0].Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, errs[0], c.want)
		}
	}
	if _, errs := Read([]byte(`{"displayTimeUnit":"s"}`)); len(errs) != 2 {
		t.Errorf("neither unit nor events: %v", errs)
	}
}
