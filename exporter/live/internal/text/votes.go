package text

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// Votes is what the nodes did for an attempt without a quorum, in short: each node that did not vote is named once, and
// not why. It is "" for any other error.
func Votes(err error) (votes string) {
	defer Contain()
	e, ok := errors.AsType[*lock.QuorumError](err)
	if !ok {
		return ""
	}
	parts := []string{fmt.Sprintf("%d of %d agreed, %d refused", e.Granted, e.Nodes, e.Refused)}
	var silent, barred, failed []string
	for _, n := range e.Errors {
		switch class := driver.ClassOf(n.Err); {
		case class.Silent(), class == driver.Busy:
			silent = append(silent, n.Node)
		case class.Barred():
			barred = append(barred, n.Node)
		default:
			failed = append(failed, n.Node)
		}
	}
	parts = appendNames(parts, "did not answer", silent)
	parts = appendNames(parts, "may not vote", barred)
	parts = appendNames(parts, "failed", failed)
	parts = appendCount(parts, "not asked", e.Count(lock.VerdictNotAsked))
	parts = appendCount(parts, "not waited for", e.Count(lock.VerdictUnheard))
	return clip(strings.Join(parts, ", "), maxError)
}

func appendNames(parts []string, did string, names []string) []string {
	if len(names) == 0 {
		return parts
	}
	return append(parts, fmt.Sprintf("%d %s (%s)", len(names), did, strings.Join(names, ", ")))
}

func appendCount(parts []string, did string, n int) []string {
	if n == 0 {
		return parts
	}
	return append(parts, fmt.Sprintf("%d %s", n, did))
}
