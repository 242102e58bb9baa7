package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	now := time.Now()
	p := NewProgressLine(&out)
	p.began, p.sweep, p.now = now, BeginProgress(now), func() time.Time { return now }
	p.Report(report.Progress{Node: "a", Share: 0.1, Keys: 100})
	p.Clear()
	if out.Len() != 0 {
		t.Errorf("a short scan shows %q", out.String())
	}
	now = now.Add(progressAfter)
	p.Report(report.Progress{Node: "b", Share: 1, Keys: 100, Locks: 7, Done: true})
	if want := clearLine + "55 % of 200 keys, 7 locks, 1 of 2 nodes done, 1s, about 1s left"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	p.Report(report.Progress{Node: "a", Share: 0.5, Keys: 100})
	if strings.Count(out.String(), clearLine) != 1 {
		t.Error("it writes more often than a person can read")
	}
	now = now.Add(time.Second)
	p.Report(report.Progress{Node: "a", Share: 1, Keys: 100, Done: true})
	if !strings.HasSuffix(out.String(), "7 locks; confirming findings ... 2s") {
		t.Errorf("%q", out.String())
	}
	p.Clear()
	if !strings.HasSuffix(out.String(), clearLine) {
		t.Errorf("%q is not cleared", out.String())
	}
}

// TestProgressGoesOn during the second look, which reports nothing for a while.
func TestProgressGoesOn(t *testing.T) {
	out := &lines{written: make(chan string, 100)}
	p := NewProgressLine(out)
	p.began = p.began.Add(-time.Minute)
	p.sweep.Take(report.Progress{Node: "a", Locks: 7, Done: true})
	p.KeepUp()
	for range 2 {
		select {
		case line := <-out.written:
			if !strings.Contains(line, "7 locks; confirming findings") {
				t.Errorf("%q", line)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing is written")
		}
	}
	p.Clear()
}

// lines sends each written line to the test.
type lines struct{ written chan string }

func (l *lines) Write(b []byte) (int, error) {
	select {
	case l.written <- string(b):
	default: // more lines than the test reads
	}
	return len(b), nil
}
