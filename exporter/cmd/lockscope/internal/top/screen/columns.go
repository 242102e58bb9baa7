package screen

import (
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const (
	gap      = 2 // blanks between columns
	flexible = 8 // columns that may be squeezed keep so much
)

// column is one of a table. Squeezed ones give up width where the table is too wide.
type column struct {
	title   string
	right   bool
	squeeze bool
	hidden  bool
	prose   bool   // its end may be cut; of a name the middle is
	from    int    // width of the terminal from which on it is shown
	whole   string // a cell that is not cut while another column can give up width
}

// grid is a table whose cells are safe to show.
type grid struct {
	columns []column
	rows    [][]string
}

// lines are the head and the rows in their styles, within a width; 0: any.
func (g *grid) lines(width int, styleOf func(row int) style) []line {
	g.hide(width)
	widths := g.fit(width)
	titles := make([]string, len(g.columns))
	for i, c := range g.columns {
		titles[i] = c.title
	}
	all := make([]line, 0, len(g.rows)+1)
	for r, row := range append([][]string{titles}, g.rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			if g.columns[i].prose {
				cell = cut(cell, widths[i])
			}
			cells[i] = pad(middle(cell, widths[i]), widths[i], g.columns[i].right)
		}
		one := line{strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " "), dim}
		if r > 0 {
			one.style = styleOf(r - 1)
		}
		all = append(all, one)
	}
	return all
}

// hide drops columns that say nothing, or that the terminal is too narrow for.
func (g *grid) hide(width int) {
	for i := len(g.columns) - 1; i >= 0; i-- {
		if !g.columns[i].hidden && (width == 0 || g.columns[i].from <= width) {
			continue
		}
		g.columns = slices.Delete(slices.Clone(g.columns), i, i+1)
		for r := range g.rows {
			g.rows[r] = slices.Delete(g.rows[r], i, i+1)
		}
	}
}

func (g *grid) fit(width int) []int {
	widths := make([]int, len(g.columns))
	least := make([]int, len(g.columns))
	total := gap * (len(widths) - 1)
	for i, c := range g.columns {
		widths[i], least[i] = ui.Width(c.title), flexible
		for _, row := range g.rows {
			widths[i] = max(widths[i], ui.Width(row[i]))
			if c.whole != "" && row[i] == c.whole {
				least[i] = ui.Width(c.whole)
			}
		}
		total += widths[i]
	}
	for width > 0 && total > width {
		widest := -1
		for i, c := range g.columns {
			if c.squeeze && widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 && slices.Max(least) > flexible {
			for i := range least {
				least[i] = flexible
			}
			continue
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}
