package check

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Units of panels.
const (
	unitShare   = "percentunit"
	unitSeconds = "s"
	unitRate    = "ops"
	unitCount   = "short"
	unitCallers = "suffix:callers"
)

// tolerance covers shares of two rates that are extrapolated differently, because their counters start at
// different times.
const tolerance = 0.02

// bounds are the bounds of plausible values.
type bounds struct{ low, high float64 }

// exceptions are wider bounds than the unit's, by a part of the title of the panel or column, with the reason.
func exceptions() []exception {
	return []exception{
		{"budget left", bounds{-1000, 1}, "a resource that failed a thousand times too often has -999 budgets left"},
		{"Waited", bounds{0, 1e6}, "callers wait at the same time, and their waits are added up"},
		{"Caused", bounds{0, 1e6}, "one holder makes several callers wait"},
		{"time spent waiting", bounds{0, 1e6}, "as of Waited"},
		{"Term", bounds{0, 1 << 53}, "the number of a term begins at the microseconds since 1970"},
		{"Nodes to spare", bounds{-3, 12}, "with none of five usable, three are missing to the quorum"},
	}
}

type exception struct {
	title string
	bounds
	why string
}

// slack covers waits and ages that, by their own clock, began before the world.
const slack = time.Minute

// plausible returns the bounds of the values below a title in a world of that age.
func plausible(title, unit string, age time.Duration) (bounds, error) {
	for _, e := range exceptions() {
		if strings.Contains(title, e.title) {
			return e.bounds, nil
		}
	}
	switch unit {
	case unitShare:
		return bounds{0, 1}, nil
	case unitSeconds:
		return bounds{0, (age + slack).Seconds()}, nil
	case unitRate:
		return bounds{0, 1e5}, nil // more than one machine can do
	case unitCount, unitCallers:
		return bounds{0, 1e6}, nil
	}
	return bounds{}, fmt.Errorf("no plausible bounds are defined for the unit %q", unit)
}

// contain reports whether a value is plausible.
func (b bounds) contain(v float64) bool {
	return !math.IsInf(v, 0) && v >= b.low-tolerance && v <= b.high+tolerance
}
