package scanner_test

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestWordsOfInspectors: drivers do not import this package, but their words are the same.
func TestWordsOfInspectors(t *testing.T) {
	for _, c := range []inspect.Class{inspect.NoTTL, inspect.LongTTL, inspect.HeldTooLong, inspect.Orphan} {
		if !slices.Contains(report.Classes(), report.Class(c)) {
			t.Errorf("class %s", c)
		}
	}
	for _, r := range []inspect.Reason{inspect.ValuesUnread, inspect.Unwatched, inspect.NoMatch, inspect.Replica} {
		if !slices.Contains(report.Reasons(), report.Reason(r)) {
			t.Errorf("reason %s", r)
		}
	}
	for got, want := range map[inspect.Outcome]repair.Outcome{inspect.Done: repair.Done, inspect.WouldDo: repair.WouldDo,
		inspect.Changed: repair.Changed, inspect.Gone: repair.Gone} {
		if string(got) != string(want) {
			t.Errorf("outcome %s, want %s", got, want)
		}
	}
	if string(inspect.Recorded) != string(report.FormatLockscope) || string(inspect.Observed) != string(report.FormatUnknown) {
		t.Error("formats of holders")
	}
	if discover.Confidence(inspect.Low) != discover.Low || discover.Confidence(inspect.High) != discover.High {
		t.Error("confidence")
	}
}
