package inspect

import (
	"fmt"
	"slices"
)

// Status is the judgement of one check.
type Status string

// From best to worst.
const (
	Pass Status = "pass"
	Warn Status = "warn" // works, with a risk the advice names
	Fail Status = "fail" // locks are unsafe or do not work
)

// Result is what one check says about one node, or about all of them.
type Result struct {
	Backend string `json:"backend,omitempty"` // empty: redis
	Check   string `json:"check"`
	Node    string `json:"node,omitempty"` // empty: all nodes together
	Status  Status `json:"status"`
	Detail  string `json:"detail"`
	Advice  string `json:"advice,omitempty"` // what to do about it; empty if nothing
}

// FewVoters is the result for a number of servers that tolerates too few failures. ok is true for any other.
func FewVoters(n int, noun, detail string) (r Result, ok bool) {
	switch {
	case n == 1:
		return Warned("1 "+noun, "while it is down nobody can take a lock: use three"), false
	case n%2 == 0:
		return Warned(detail, fmt.Sprintf("%d %ss tolerate no more failures than %d: add or remove one", n, noun, n-1)), false
	}
	return r, true
}

// Worst is the worst status of the results; Pass if there are none.
func Worst(results []Result) Status {
	worst := Pass
	for _, r := range results {
		if r.Status.rank() > worst.rank() {
			worst = r.Status
		}
	}
	return worst
}

func (s Status) rank() int { return slices.Index([]Status{Pass, Warn, Fail}, s) }

// Passed is the result of a check that found all well.
func Passed(detail string) Result { return Result{Status: Pass, Detail: detail} }

// Warned is the result of a check that found a risk.
func Warned(detail, advice string) Result {
	return Result{Status: Warn, Detail: detail, Advice: advice}
}

// Failed is the result of a check that found that locks are unsafe or do not work.
func Failed(detail, advice string) Result {
	return Result{Status: Fail, Detail: detail, Advice: advice}
}
