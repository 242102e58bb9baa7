package validate

import (
	"encoding/json"
	"fmt"
	"slices"
)

const maxErrors = 20

// checker gathers errors.
type checker struct{ errs []error }

func (c *checker) fail(format string, args ...any) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

// metadata are the names of metadata events and of the argument that each must have.
var metadata = map[string]string{
	"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
	"thread_name": "name", "thread_sort_index": "sort_index",
}

// colors are the reserved colors that a slice may name.
var colors = []string{"terrible", "bad", "good", "yellow", "olive", "grey", "black", "white"}

// event checks the fields of one event.
func (c *checker) event(i int, r *raw) Event {
	e := Event{Cat: r.Cat, Phase: r.Phase, Bind: r.Bind, Scope: r.Scope, Color: r.Color, Args: r.Args}
	fail := func(format string, args ...any) {
		c.fail("event %d (%s %q): %s", i, e.Phase, e.Name, fmt.Sprintf(format, args...))
	}
	if r.Name != nil {
		e.Name = *r.Name
	}
	if e.Name == "" {
		fail("it has no name")
	}
	if r.Pid == nil || r.Tid == nil {
		fail("it has no pid or no tid")
	} else {
		e.Pid, e.Tid = *r.Pid, *r.Tid
	}
	if r.ID != nil {
		e.ID = *r.ID
	}
	e.At = c.time(fail, "ts", r.At, r.Phase != "M")
	e.Took = c.time(fail, "dur", r.Took, r.Phase == "X")
	if r.Took != nil && r.Phase != "X" {
		fail("only a complete event has a dur")
	}
	c.phase(&e, r, fail)
	return e
}

// time reads a time that must not be negative.
func (c *checker) time(fail func(string, ...any), name string, n *json.RawMessage, required bool) int64 {
	if n == nil {
		if required {
			fail("it has no %s", name)
		}
		return 0
	}
	ns, err := nanos(*n)
	if err != nil {
		fail("%s: %v", name, err)
	}
	if ns < 0 {
		fail("%s is negative: %s", name, *n)
	}
	return ns
}

// phase checks the fields that depend on the phase.
func (c *checker) phase(e *Event, r *raw, fail func(string, ...any)) {
	flow := slices.Contains([]string{"s", "t", "f"}, e.Phase)
	switch {
	case e.Phase == "X":
		if e.Color != "" && !slices.Contains(colors, e.Color) {
			fail("cname %q is no reserved color", e.Color)
		}
	case e.Phase == "i":
		if !slices.Contains([]string{"g", "p", "t"}, e.Scope) {
			fail("scope %q is none of g, p and t", e.Scope)
		}
	case e.Phase == "M":
		c.meta(e, fail)
	case flow:
		if r.ID == nil || e.Cat == "" {
			fail("an arrow needs an id and a cat")
		}
		if e.Bind != "" && e.Bind != "e" {
			fail("bp is %q: only e is known", e.Bind)
		}
	default:
		fail("phase %q is not one of X, i, M, s, t and f", e.Phase)
	}
	if r.ID != nil && !flow || e.Bind != "" && !flow || e.Scope != "" && e.Phase != "i" {
		fail("it has a field of another phase")
	}
}

func (c *checker) meta(e *Event, fail func(string, ...any)) {
	key, known := metadata[e.Name]
	if !known {
		fail("unknown metadata")
		return
	}
	value := e.Args[key]
	_, isText := value.(string)
	_, isNumber := value.(float64)
	if len(e.Args) != 1 || key == "sort_index" && !isNumber || key != "sort_index" && !isText {
		fail("it needs the one argument %s, not %v", key, e.Args)
	}
}
