package boards

// kind is a visualization.
type kind int

const (
	single kind = iota // one value
	lines
	bars // stacked
	heat
	grid // a table
	topList
	states
	alertList // of Grafana's own
	logLines  // of Loki
	traces    // of Tempo
)

// query is one expression. Its selectors are written with the shorthands of selectors.
type query struct {
	expr, legend string
	instant      bool // the value now, not its course
}

// column is a column of a table: the value of the query at the same place.
type column struct {
	title, unit string
	decimals    float64
	steps       []step
	width       float64
	words       map[string]string // value to text
}

// panel is what distinguishes one panel from others of its kind.
type panel struct {
	kind         kind
	title, about string
	unit         string
	decimals     float64
	w, h         uint32
	queries      []query
	steps        []step
	limits       bool    // draw the steps into the chart
	zero, one    bool    // the axis begins at 0, ends at 1
	reach        float64 // the axis ends here at least, so that little does not look like much
	logarithmic  bool
	tints        []tint
	exemplars    bool   // mark traces
	none         string // said instead of "No data"
	reduce       string // how a tile's course becomes a value; the last one if empty
	columns      []column
	hidden       []string // columns not shown
	links        []link
	cells        []labelColumn // of a table; links are beside those that everything has
	order        []string      // of the labels in a table; others and values follow
	named        bool          // a tile tells the name beside the value
	fill         filler
}

// labelColumn is how a label is shown in a table.
type labelColumn struct {
	column string
	width  float64
	links  []link
}

// tint is the colour of a series whose name says what is good and what is bad.
type tint struct{ series, color string }

// link leads from a series or a row to another dashboard, or away from Grafana.
type link struct {
	title, url string
	away       bool
}

// auto as decimals leaves them to Grafana.
const auto = -1

// now is a query for a tile or a table.
func now(expr string) []query { return []query{{expr: expr, instant: true}} }

func course(expr, legend string) []query { return []query{{expr: expr, legend: legend}} }

// instants are the columns of a table.
func instants(exprs ...string) []query {
	var all []query
	for _, e := range exprs {
		all = append(all, now(e)...)
	}
	return all
}

// Names of the variables that choose where logs and traces are.
const (
	logsVariable   = "logs"
	tracesVariable = "traces"
)
