package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Model is what [Explore] walks through. Its methods must depend on nothing but the state.
type Model[S comparable] interface {
	// Start is where it begins.
	Start() S
	// Steps hands every step that can be taken from s to each, with the state it leads to.
	Steps(s S, each func(Step, S))
	// Violation names the invariant that does not hold in s; "" if all do.
	Violation(s S) string
	// Canonical is one state for all that differ in the names of nodes alone. A state for
	// which nothing is known to be equal is its own.
	Canonical(s S) S
}

// Step says what happened, for people: "{c}", "{n}", "{m}" and "{s}" in the text stand for
// the client, a node, another node, and a slot or a lock.
type Step struct {
	Text                     string
	Client, Node, From, Slot int
}

func (s Step) String() string {
	return strings.NewReplacer(
		"{c}", fmt.Sprint("client ", s.Client+1),
		"{n}", fmt.Sprint("node ", string(rune('A'+s.Node))),
		"{m}", fmt.Sprint("node ", string(rune('A'+s.From))),
		"{s}", fmt.Sprint(s.Slot),
	).Replace(s.Text)
}

// Result is what an exploration saw.
type Result struct {
	States, Transitions int
	Depth               int      // steps from the start to the farthest state
	Violation           string   // of an invariant; "" if all hold in every state
	Trace               []string // the steps to a violation, one of the shortest ways
}

// ErrLimit says that there are more states than were allowed: what was not looked at is
// not known to be right.
var ErrLimit = errors.New("more states than the limit")

// Explore visits every state of the model, nearest first, until an invariant is violated.
// It is the same each time. Where there are more than limit states it fails with
// [ErrLimit], and the result says how far it came.
func Explore[S comparable](m Model[S], limit int) (Result, error) {
	e := &exploration[S]{model: m, seen: newStates[S]()}
	start := m.Canonical(m.Start())
	e.visit(start, 0)
	var r Result
	for next, level := 0, 1; next < e.seen.count(); r.Depth++ {
		for ; next < level; next++ {
			s := e.seen.at(next)
			if r.Violation = m.Violation(s); r.Violation != "" {
				r.States, r.Transitions, r.Trace = e.seen.count(), e.transitions, e.trace(next)
				return r, nil
			}
			m.Steps(s, func(_ Step, to S) {
				e.transitions++
				e.visit(m.Canonical(to), next)
			})
			if e.seen.count() > limit {
				r.States, r.Transitions = e.seen.count(), e.transitions
				return r, fmt.Errorf("%w: %d, at depth %d", ErrLimit, limit, r.Depth)
			}
		}
		level = e.seen.count()
	}
	r.States, r.Transitions, r.Depth = e.seen.count(), e.transitions, r.Depth-1
	return r, nil
}

// exploration is one call of Explore.
type exploration[S comparable] struct {
	model       Model[S]
	seen        *states[S]
	parents     []uint32 // by index of the state
	transitions int
}

func (e *exploration[S]) visit(s S, from int) {
	if e.seen.add(s) {
		e.parents = append(e.parents, uint32(from))
	}
}

// trace is the way to a state. Only states are kept, so that there is room for many: the
// steps are taken again, in states whose nodes keep their names.
func (e *exploration[S]) trace(to int) []string {
	var way []int
	for ; to != 0; to = int(e.parents[to]) {
		way = append(way, to)
	}
	slices.Reverse(way)
	var told []string
	s := e.model.Start()
	for _, index := range way {
		target, found := e.seen.at(index), false
		var next S
		e.model.Steps(s, func(step Step, to S) {
			if !found && e.model.Canonical(to) == target {
				found, next = true, to
				told = append(told, step.String())
			}
		})
		s = next
	}
	return told
}

// After is a model that begins where the steps named have led another, for what lies too
// deep to be found from its start. It fails where the model does not allow one of them.
func After[S comparable](m Model[S], steps ...string) (Model[S], error) {
	s := m.Start()
	for _, text := range steps {
		taken := false
		var next S
		m.Steps(s, func(step Step, to S) {
			if !taken && step.String() == text {
				taken, next = true, to
			}
		})
		if !taken {
			return nil, fmt.Errorf("the model does not allow %q", text)
		}
		s = next
	}
	return after[S]{m, s}, nil
}

type after[S comparable] struct {
	Model[S]
	start S
}

func (m after[S]) Start() S { return m.start }
