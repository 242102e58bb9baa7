package coverage

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestWhatWasNotReadIsAGap, with its reason, and nothing else is one.
func TestWhatWasNotReadIsAGap(t *testing.T) {
	for _, c := range []struct {
		node   report.NodeReport
		reason inspect.Reason
		says   string
	}{
		{report.NodeReport{Err: errors.New("connection refused")}, inspect.ReasonNodeFailed, "connection refused"},
		{report.NodeReport{Truncated: true}, inspect.ReasonBoundReached, "--deadline"},
		{report.NodeReport{Redirected: 3}, inspect.ReasonRedirected, "3 keys"},
		{report.NodeReport{Overflow: 4}, inspect.ReasonBoundReached, "4 findings"},
		{report.NodeReport{Unread: 5}, inspect.ReasonValuesUnread, "5 locks"},
		{report.NodeReport{Unwatched: 6}, inspect.ReasonUnwatched, "6 locks"},
	} {
		r := c.node
		r.Node = "r1:6379"
		Close(&r, true)
		if len(r.Gaps) != 1 || r.Gaps[0].Node != r.Node || r.Gaps[0].Reason != c.reason ||
			!strings.Contains(r.Gaps[0].Detail, c.says) {
			t.Errorf("%+v has the gaps %+v", c.node, r.Gaps)
		}
	}
	r := report.NodeReport{Node: "r1:6379", Locks: 7, Unread: 5}
	if Close(&r, false); len(r.Gaps) != 0 {
		t.Errorf("values that nobody wanted are gaps: %+v", r.Gaps)
	}
}
