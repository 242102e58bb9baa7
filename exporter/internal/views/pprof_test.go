package views

import (
	"bytes"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/pprof/profile"

	"github.com/lockscope/lockscope/exporter/live"
)

// TestProfileFormat reads what was written with the reader of go tool pprof.
func TestProfileFormat(t *testing.T) {
	began := time.Unix(1700000000, 0)
	hostile := "\x1b[2J<script>\n\xff\u202e"
	stack := []live.ProfileFrame{{Function: "main.charge", File: "/src/charge.go", Line: 42},
		{Function: "main.main", File: "/src/main.go", Line: 7}}
	var out bytes.Buffer
	err := waitProfile{began: began, ended: began.Add(30 * time.Second), samples: []sample{
		{stack: stack[:1], count: 1, delay: time.Second},
		{stack: stack, count: 3, delay: time.Minute, labels: []label{{"resource", "order:1"}, {"holder", ""}}},
		{stack: []live.ProfileFrame{{Function: hostile}}, labels: []label{{"resource", hostile}}},
	}}.write(&out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if p.DefaultSampleType != "delay" || p.SampleType[0].Type != "contentions" || p.SampleType[1].Unit != "nanoseconds" ||
		p.PeriodType.Type != "contentions" || p.DurationNanos != 30e9 || p.TimeNanos != 1700000030e9 {
		t.Errorf("head %+v", p)
	}
	if len(p.Function) != 3 || len(p.Location) != 3 || len(p.Sample) != 3 {
		t.Fatalf("%v", p)
	}
	s := p.Sample[0]
	if s.Value[0] != 3 || s.Value[1] != 60e9 || s.Label["resource"][0] != "order:1" || len(s.Label["holder"]) != 0 ||
		s.Location[0].Line[0].Function.Name != "main.charge" || s.Location[0].Line[0].Line != 42 ||
		s.Location[1].Line[0].Function.Filename != "/src/main.go" {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{p.Sample[2].Label["resource"][0], p.Sample[2].Location[0].Line[0].Function.Name} {
		if name != "\uFFFD[2J<script>\uFFFD\uFFFD\uFFFD" || !utf8.ValidString(name) {
			t.Errorf("a name is %q", name)
		}
	}
}

// TestEmptyProfile is a profile that pprof reads.
func TestEmptyProfile(t *testing.T) {
	var out bytes.Buffer
	if err := (waitProfile{}).write(&out); err != nil {
		t.Fatal(err)
	}
	if p, err := profile.Parse(&out); err != nil || p.CheckValid() != nil {
		t.Errorf("%v: %v", p, err)
	}
}
