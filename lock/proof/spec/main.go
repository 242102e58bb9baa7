package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

func main() {
	quick := flag.Bool("quick", false, "leave out what takes minutes")
	limit := flag.Int("limit", 20_000_000, "states of one exploration, at most: about 200 bytes each")
	model := flag.String("model", "", "explore this model alone")
	trace := flag.String("trace", "", "tell the trace of this one, by its name")
	flag.Parse()
	few, many := held()
	if !*quick {
		few = append(few, many...)
	}
	only := func(cases []explore.Case) []explore.Case {
		return slices.DeleteFunc(cases, func(c explore.Case) bool { return *model != "" && c.Model != *model })
	}
	ok := true
	if *trace == "" {
		heading("With all rules on", "states", "transitions", "depth", "time")
		ok = table(only(few), *limit, false, "") && ok
	}
	heading("With this rule off", "states", "transitions", "steps", "time")
	ok = table(only(broken()), *limit, true, *trace) && ok
	heading("Not covered", "states", "transitions", "steps", "time")
	ok = table(only(uncovered()), *limit, true, *trace) && ok
	if !ok {
		os.Exit(1)
	}
}

func heading(title string, columns ...any) {
	fmt.Printf("\n%s\n\n", title)
	fmt.Printf("| model | %-40s | bounds | %10s | %11s | %5s | %6s | |\n", append([]any{"what"}, columns...)...)
	fmt.Println("|---|---|---|--:|--:|--:|--:|---|")
}

// table prints a line for each case, and reports that each came out as it should: with
// a violation, or without. Where only one is wanted it tells the way to it.
func table(cases []explore.Case, limit int, violated bool, only string) bool {
	ok := true
	for _, c := range cases {
		if only != "" && only != c.Name {
			continue
		}
		began := time.Now()
		r, err := c.Explore(limit)
		verdict, steps := "held", r.Depth
		switch {
		case err != nil:
			verdict = err.Error()
		case r.Violation != "":
			verdict, steps = r.Violation, len(c.After)+len(r.Trace)
		}
		ok = ok && err == nil && violated == (r.Violation != "")
		fmt.Printf("| %s | %-40s | %s | %10d | %11d | %5d | %5.1fs | %s |\n",
			c.Model, c.Name, bounds(c), r.States, r.Transitions, steps, time.Since(began).Seconds(), verdict)
		if only != "" {
			fmt.Print("\n", story(c, r))
		}
	}
	return ok
}

// bounds of a case; those that begin after some steps say after how many.
func bounds(c explore.Case) string {
	if len(c.After) == 0 {
		return c.Bounds
	}
	return fmt.Sprintf("%s; after %d steps", c.Bounds, len(c.After))
}

// story is a history that violates an invariant, as people read it.
func story(c explore.Case, r explore.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", c.Model, c.Name, c.Bounds)
	tell := func(heading string, steps []string) {
		if len(steps) > 0 {
			fmt.Fprintf(&b, "\n%s\n  %s\n", heading, strings.Join(steps, "\n  "))
		}
	}
	tell("It begins with:", c.After)
	tell("A shortest way from there:", r.Trace)
	fmt.Fprintf(&b, "\nViolated: %s\n", r.Violation)
	return b.String()
}
