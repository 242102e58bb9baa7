package draw

// Kind is a visualization. Charts and tiles have constructors; panels of the other kinds are written out.
type Kind int

const (
	single Kind = iota // one value
	lines
	bars // stacked

	Heat      // a heat map of a histogram
	Table     // a line for each series, a column for each query
	TopList   // bars for the largest values
	States    // the history of states as colours
	AlertList // Grafana's own list of alerts
	Logs      // records of Loki
	Traces    // traces of Tempo
	Words     // only text
)

// Panel is what a panel does not share with all panels of its kind. Its methods return changed copies.
type Panel struct {
	Kind          Kind
	Title, About  string // About says what is good, and what to do otherwise
	Unit          string // as Grafana names it
	Decimals      float64
	Width, Height uint32 // in columns and lines of the dashboard, which is Full wide
	Queries       []Query
	Steps         []Step
	Links         []Link  // of every series
	None          string  // text instead of "No data"
	Zero, One     bool    // the axis begins at 0, ends at 1
	Size          float64 // of a tile's value in pixels, so that tiles side by side look alike
	Text          string  // of a panel of Words, in Markdown

	Columns []Column      // of a table, in the order of its queries
	Cells   []LabelColumn // label columns with their own links or widths
	Order   []string      // of label columns; other columns follow
	Hidden  []string      // columns not shown
	Sorted  []string      // columns that the table is sorted by, largest values first
	Rising  bool          // smallest first
	Narrow  float64       // width of columns other than those in Columns and Cells

	limits      bool    // draw the steps into the chart
	reach       float64 // minimum end of the axis, so that small values look small
	logarithmic bool
	tints       []Tint
	exemplars   bool // mark traces
	named       bool // a tile shows the name beside the value
	fill        filler
}

// Auto as decimals leaves them to Grafana.
const Auto = -1

// Query is one expression. Its selectors use the shorthands of the package.
type Query struct {
	Expr, Legend string
	Instant      bool // the current value, not its history
}

// Now queries the current value, for a tile or a table.
func Now(expr string) []Query { return []Query{{Expr: expr, Instant: true}} }

// History queries the values of the time shown, for a chart.
func History(expr, legend string) []Query { return []Query{{Expr: expr, Legend: legend}} }

// Instants queries the current values of a table's columns.
func Instants(exprs ...string) []Query {
	var all []Query
	for _, e := range exprs {
		all = append(all, Now(e)...)
	}
	return all
}

// Column is a table column: the value of the query with the same index.
type Column struct {
	Title, Unit string
	Decimals    float64
	Steps       []Step
	Width       float64           // in pixels
	Words       map[string]string // value to text
}

// LabelColumn is the display of a label in a table.
type LabelColumn struct {
	Name  string  // of the label
	Width float64 // in pixels
	Links []Link
}

// Link leads from a series or row to another dashboard or out of Grafana.
type Link struct {
	Title, URL string
	Away       bool // in a new tab
}

// LabelWidth is the width of columns with short values, such as the job.
const LabelWidth = 80

// Tint is the fixed colour of a series whose name is good or bad.
type Tint struct{ series, color string }

// In gives a series its colour.
func In(color, series string) Tint { return Tint{series: series, color: color} }

// Names of the variables for the sources of logs and traces.
const (
	logsVariable   = "logs"
	tracesVariable = "traces"
)
