package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"
)

// unit is how a row's numbers are written.
type unit int

const (
	latency    unit = iota // microseconds (allocations)
	costedRate             // a second, microseconds of this process's CPU
	fairRate               // a second, Jain's index
)

func (u unit) text(value, beside float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	switch {
	case u == latency && math.IsNaN(beside):
		return fmt.Sprintf("%.0f us", value*1e6)
	case u == latency:
		return fmt.Sprintf("%.0f us (%.0f)", value*1e6, beside)
	case u == fairRate:
		return fmt.Sprintf("%s, J %.2f", perSecond(value), beside)
	default:
		return fmt.Sprintf("%s, %.0f us CPU", perSecond(value), beside*1e6)
	}
}

func perSecond(value float64) string {
	switch {
	case value >= 1e6:
		return fmt.Sprintf("%.1fM", value/1e6)
	case value >= 1e5:
		return fmt.Sprintf("%.0fk", value/1e3)
	case value >= 1e3:
		return fmt.Sprintf("%.1fk", value/1e3)
	default:
		return fmt.Sprintf("%.0f", value)
	}
}

const legend = "Medians of the stretches. In parentheses: allocations of a pair. CPU: of the client, a pair. J: Jain's index of fairness, 1 if " +
	"all got the same.\n" +
	"x1.50: one and a half times the floor's number, the median of the rounds. Empty: the peer does no such work."

// writeTable writes a row for each result and a column for each peer, and below what
// failed, as Markdown that can be read as it is.
func writeTable(w io.Writer, peers []peer, results []result) {
	head := []string{"work"}
	for _, p := range peers {
		head = append(head, p.name)
	}
	lines := [][]string{head}
	for _, r := range results {
		line := []string{r.row.name}
		for _, p := range peers {
			line = append(line, r.text(p.name))
		}
		lines = append(lines, line)
	}
	writeAligned(w, lines)
	fmt.Fprintf(w, "\n%s\n", legend)
	writeFailures(w, peers, results)
}

// text is one cell of the table.
func (r result) text(peer string) string {
	c := r.cells[peer]
	if c == nil {
		return ""
	}
	text := r.row.unit.text(middle(c.values), middle(c.besides))
	if peer == r.row.floor {
		text += " floor"
	} else if ratio := r.ratio(c); !math.IsNaN(ratio) {
		text += fmt.Sprintf(" x%.3g", ratio)
	}
	if c.failed.count > 0 {
		text += fmt.Sprintf(", %d failed", c.failed.count)
	}
	return text
}

// ratio compares a cell with the floor, round by round: the machine may be another one
// in the next.
func (r result) ratio(c *cell) float64 {
	floor := r.cells[r.row.floor]
	if floor == nil {
		return math.NaN()
	}
	ratios := make([]float64, len(c.values))
	for i := range ratios {
		ratios[i] = c.values[i] / floor.values[i]
	}
	return middle(ratios)
}

// middle is the median of what there is: not of stretches without a result.
func middle(values []float64) float64 {
	return median(slices.DeleteFunc(slices.Clone(values),
		func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }))
}

func writeAligned(w io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for n, line := range lines {
		for i, text := range line {
			fmt.Fprintf(w, "| %-*s ", widths[i], text)
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			for _, width := range widths {
				fmt.Fprintf(w, "|%s", strings.Repeat("-", width+2))
			}
			fmt.Fprintln(w, "|")
		}
	}
}

func writeFailures(w io.Writer, peers []peer, results []result) {
	title := "\nFailed:\n\n"
	for _, r := range results {
		for _, p := range peers {
			c := r.cells[p.name]
			if c == nil || c.failed.count == 0 {
				continue
			}
			first := strings.ReplaceAll(c.failed.first.Error(), "\n", "; ")
			fmt.Fprintf(w, "%s- %s, %s: %d, the first with %q\n", title, p.name, r.row.name, c.failed.count, first)
			title = ""
		}
	}
}

// circumstances are what the numbers depend on.
func circumstances(o options) string {
	text := fmt.Sprintf("%d cores, %s/%s, %s; %d stretches of %v; %v added to each round trip",
		runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.stretches, o.stretch, o.rtt)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	for _, dep := range info.Deps {
		switch dep.Path {
		case "github.com/go-redsync/redsync/v4", "github.com/bsm/redislock", "github.com/redis/go-redis/v9":
			text += fmt.Sprintf("; %s %s", strings.TrimPrefix(dep.Path, "github.com/"), dep.Version)
		}
	}
	return text
}
