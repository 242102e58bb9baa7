package coverage

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// Note adds a reason why the node is not proved to have been read.
func Note(r *report.NodeReport, reason inspect.Reason, format string, args ...any) {
	r.Gaps = append(r.Gaps, inspect.Gap{Node: r.Node, Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

// Close adds the gaps that the numbers of the finished report show. Values that were not to be read are not a gap.
func Close(r *report.NodeReport, readValues bool) {
	switch {
	case r.Err != nil:
		Note(r, inspect.ReasonNodeFailed, "%v", r.Err)
	case r.Truncated:
		Note(r, inspect.ReasonBoundReached,
			"the sweep ended before it had read every key: raise the deadline (--deadline)")
	}
	if r.Redirected > 0 {
		Note(r, inspect.ReasonRedirected,
			"%d keys were listed but not read: the node answered that another node, or none, serves their slots",
			r.Redirected)
	}
	if r.Overflow > 0 {
		Note(r, inspect.ReasonBoundReached, "%d findings were counted but not kept: raise the limit (--max-findings)",
			r.Overflow)
	}
	if r.Unread > 0 && readValues {
		Note(r, inspect.ReasonValuesUnread,
			"the values of %d locks were not read: wait for later sweeps, or raise the limit (--max-values)",
			r.Unread)
	}
	if r.Unwatched > 0 {
		Note(r, inspect.ReasonUnwatched,
			"%d locks are not watched for how long they are held: raise the limit (--max-watched)", r.Unwatched)
	}
}

// Locks returns a number of locks in words.
func Locks(n int64) string {
	if n == 1 {
		return "1 lock"
	}
	return fmt.Sprintf("%d locks", n)
}

// Unmatched returns a gap for each pattern that no key matches. It returns none if some node was not counted.
func Unmatched(patterns []string, nodes []report.NodeReport) []inspect.Gap {
	matched := make(map[string]int64)
	for _, n := range nodes {
		if n.Err != nil || n.Truncated || n.Matched == nil {
			return nil
		}
		for pattern, locks := range n.Matched {
			matched[pattern] += locks
		}
	}
	var gaps []inspect.Gap
	for _, pattern := range patterns {
		if matched[pattern] == 0 {
			gaps = append(gaps, inspect.Gap{Reason: inspect.ReasonNoMatch, Detail: fmt.Sprintf(
				"no key matches %q: check the pattern, the server and the database", pattern)})
		}
	}
	return gaps
}
