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
)

// tolerance is for shares of two rates that were extrapolated differently, because
// their counters began at different times.
const tolerance = 0.02

// bounds are those of plausible values.
type bounds struct{ low, high float64 }

// exceptions are what goes beyond that which its unit suggests, by a part of the title
// of the panel or column, and why.
func exceptions() []exception {
	return []exception{
		{"budget left", bounds{-1000, 1}, "who has failed a thousand times too often has minus 999 budgets left"},
		{"Nodes to spare", bounds{-3, 12}, "if none of five is usable, three lack to the quorum"},
	}
}

type exception struct {
	title string
	bounds
	why string
}

// slack is for waits and ages that began before the world did, by its clock.
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
		return bounds{0, 1e5}, nil // more than one machine does
	case unitCount:
		return bounds{0, 1e6}, nil
	}
	return bounds{}, fmt.Errorf("nobody knows what is plausible in the unit %q", unit)
}

// contain reports that a value is plausible.
func (b bounds) contain(v float64) bool {
	return !math.IsInf(v, 0) && v >= b.low-tolerance && v <= b.high+tolerance
}
