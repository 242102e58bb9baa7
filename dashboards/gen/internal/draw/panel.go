package draw

// kind is a visualization.
type Kind int

const (
	single Kind = iota // one value
	lines
	bars // stacked
	Heat
	Table // a table
	TopList
	States
	AlertList // of Grafana's own
	Logs      // of Loki
	Traces    // of Tempo
	Words     // only text
)

// query is one expression. Its selectors use the shorthands of newFiller.
type Query struct {
	Expr, Legend string
	Instant      bool // the current value, not its history
}

// column is a table column: the value of the query with the same index.
type Column struct {
	Title, Unit string
	Decimals    float64
	Steps       []Step
	Width       float64
	Words       map[string]string // value to text
}

// panel is a panel without what all panels of its kind share.
type Panel struct {
	Kind          Kind
	Title, About  string
	Unit          string
	Decimals      float64
	Width, Height uint32
	Queries       []Query
	Steps         []Step
	limits        bool    // draw the steps into the chart
	Zero, One     bool    // the axis begins at 0, ends at 1
	reach         float64 // minimum end of the axis, so that small values look small
	logarithmic   bool
	tints         []Tint
	exemplars     bool   // mark traces
	None          string // text instead of "No data"
	Columns       []Column
	Hidden        []string // columns not shown
	Links         []Link
	Cells         []LabelColumn // label columns of a table, with their own links
	Order         []string      // of label columns in a table; other columns follow
	named         bool          // a tile shows the name beside the value
	Size          float64       // of a tile's value in pixels, so that tiles side by side look alike
	Sorted        []string      // columns that a table is sorted by, largest values first
	Rising        bool          // smallest first
	Narrow        float64       // width of a table's columns other than those in columns and cells
	Text          string        // of a panel of words, in Markdown
	fill          filler
}

// labelColumn is the display of a label in a table.
type LabelColumn struct {
	Name  string
	Width float64
	Links []Link
}

// labelWidth is the width of columns with short values, such as the job.
const LabelWidth = 80

// tint is the fixed colour of a series whose name is good or bad.
type Tint struct{ series, color string }

// in gives a series its colour.
func In(color, series string) Tint { return Tint{series: series, color: color} }

// link leads from a series or row to another dashboard or out of Grafana.
type Link struct {
	Title, URL string
	Away       bool
}

// auto as decimals leaves them to Grafana.
const Auto = -1

// now queries the current value, for a tile or a table.
func Now(expr string) []Query { return []Query{{Expr: expr, Instant: true}} }

func History(expr, legend string) []Query { return []Query{{Expr: expr, Legend: legend}} }

// instants queries the current values of a table's columns.
func Instants(exprs ...string) []Query {
	var all []Query
	for _, e := range exprs {
		all = append(all, Now(e)...)
	}
	return all
}

// Names of the variables for the sources of logs and traces.
const (
	logsVariable   = "logs"
	tracesVariable = "traces"
)
