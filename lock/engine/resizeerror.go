package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// NodeSlots is what one node knows of the number of slots of a semaphore.
type NodeSlots struct {
	Node  string
	Slots int   // 0 if the node knows none, or has not answered
	Err   error // why the node has not answered; nil if it has
}

// ResizeError means that a change of the number of slots is not finished. It wraps Err and the errors of the nodes.
type ResizeError struct {
	Name     string
	From, To int
	// Nodes is what each node was last seen to know. It is nil if ctx ended before the nodes answered: each may know
	// either number.
	Nodes []NodeSlots
	// Until is when at most To permits are valid, if only the wait for that was cut short; else zero.
	Until time.Time
	Err   error // why the call ended early; nil if the nodes are the reason
}

func (e *ResizeError) Error() string {
	s := fmt.Sprintf("semaphore %q: resize from %d to %d slots", e.Name, e.From, e.To)
	if !e.Until.IsZero() {
		return fmt.Sprintf("%s: more than %d permits can be valid until %s, and the call did not wait: %v. "+
			"Wait until then, or call Resize again.", s, e.To, e.Until.UTC().Format(time.RFC3339), e.Err)
	}
	s += " is not finished"
	if known := e.known(); known != "" {
		s += ": " + known
	}
	if e.Err != nil {
		s += fmt.Sprintf(": %v", e.Err)
	}
	switch third := e.third(); {
	case errors.Is(e, errors.ErrUnsupported):
		return s + ". To change the number with this driver, use a new name."
	case third != 0:
		return s + fmt.Sprintf(". Find out who set %d, then resize from %d.", third, third)
	}
	return s + ". Call Resize again with the same numbers."
}

// known says what each node knows.
func (e *ResizeError) known() string {
	var nodes []string
	for _, n := range e.Nodes {
		switch {
		case n.Err != nil:
			nodes = append(nodes, fmt.Sprintf("%s: %v", n.Node, n.Err))
		case n.Slots == 0:
			nodes = append(nodes, n.Node+" knows no number")
		default:
			nodes = append(nodes, fmt.Sprintf("%s knows %d", n.Node, n.Slots))
		}
	}
	return strings.Join(nodes, "; ")
}

// third is a number that a node knows and that is neither the old nor the new one; 0 if there is none.
func (e *ResizeError) third() int {
	for _, n := range e.Nodes {
		if n.Slots != 0 && n.Slots != e.From && n.Slots != e.To {
			return n.Slots
		}
	}
	return 0
}

// Unwrap returns Err and the errors of the nodes.
func (e *ResizeError) Unwrap() (all []error) {
	if e.Err != nil {
		all = append(all, e.Err)
	}
	for _, n := range e.Nodes {
		if n.Err != nil {
			all = append(all, n.Err)
		}
	}
	return all
}
