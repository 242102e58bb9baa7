package check

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
)

// WriteTallies writes a line for each dashboard and unit.
func WriteTallies(w io.Writer, boards []Board, tallies []Tally) {
	t := newTable(w, "dashboard\tunit\tqueries\tseries\tnumbers\tleast\tmost\t")
	panels, queries, numbers := 0, 0, 0
	for _, b := range boards {
		fmt.Fprintf(t, "%s\t%d panels\t%d\t\t\t\t\t\n", b.UID, len(b.Panels), b.Queries())
		panels, queries = panels+len(b.Panels), queries+b.Queries()
		for _, of := range tallies {
			if of.Dashboard == b.UID {
				numbers += of.Values
				fmt.Fprintf(t, "\t%s\t%d\t%d\t%d\t%s\t%s\t\n", of.Unit, of.Queries, of.Series, of.Values,
					number(of.Min), number(of.Max))
			}
		}
	}
	fmt.Fprintf(t, "all\t%d panels\t%d\t\t%d\t\t\t\n", panels, queries, numbers)
	_ = t.Flush()
}

// WriteAlerts writes a line for each alert: its state while nodes hung, and at the end.
func WriteAlerts(w io.Writer, hung, end []Alert) {
	both := make(map[[2]string][2]Alert)
	for i, all := range [][]Alert{hung, end} {
		for _, a := range all {
			of := both[a.key()]
			of[i] = a
			both[a.key()] = of
		}
	}
	t := newTable(w, "alert\tseverity\twith nodes hung\tin the end\t")
	for _, key := range slices.SortedFunc(maps.Keys(both),
		func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", key[0], key[1], both[key][0].state(), both[key][1].state())
	}
	_ = t.Flush()
}

// state returns the counts of an alert as text.
func (a Alert) state() string {
	switch {
	case a.Firing > 0:
		return fmt.Sprintf("%d firing, %d in Alertmanager", a.Firing, a.Arrived)
	case a.Pending > 0:
		return fmt.Sprintf("%d pending", a.Pending)
	}
	return "-"
}

func newTable(w io.Writer, head string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, head)
	return t
}

// number formats four significant digits.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
