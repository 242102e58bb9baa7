package screen

import (
	"slices"
	"strings"
	"unicode/utf8"

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

// style is an SGR code. What it says is always said in words, too.
type style string

const (
	plain   style = ""
	bold    style = "1"
	dim     style = "2"
	reverse style = "7"
	red     style = "1;31"
	yellow  style = "33"
)

// line is one line of a frame: text in one style.
type line struct {
	text  string
	style style
}

// draw cuts the lines to the size of the terminal.
func draw(lines []line, o *Options) string {
	if o.Height > 0 {
		lines = lines[:min(len(lines), o.Height)]
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		text := strings.TrimRight(cut(l.text, o.Width), " ")
		if o.Color && l.style != plain && text != "" {
			text = "\x1b[" + string(l.style) + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
	}
	return b.String()
}

// cut ends a text at a width.
func cut(text string, width int) string {
	if width <= 0 || ui.Width(text) <= width {
		return text
	}
	return ui.Head(text, width-1) + "…"
}

// middle shortens a name in its middle: the end of a name tells processes apart.
func middle(text string, width int) string {
	if ui.Width(text) <= width {
		return text
	}
	if width < 4 {
		return ui.Head(text, width)
	}
	tail := (width - 1) / 2
	return ui.Head(text, width-1-tail) + "…" + end(text, tail)
}

// end is the longest end that is at most so wide.
func end(text string, width int) string {
	for ui.Width(text) > width {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}

// pad fills a text up to a width.
func pad(text string, width int, right bool) string {
	blanks := strings.Repeat(" ", max(0, width-ui.Width(text)))
	if right {
		return blanks + text
	}
	return text + blanks
}

// clean is a text of others, safe to show.
func clean(text string) string { return ui.Printable(text) }

// wrap breaks a text at blanks into at most so many lines.
func wrap(text string, width, most int) (lines []string) {
	if width <= 0 {
		return []string{text}
	}
	for len(lines) < most-1 && ui.Width(text) > width {
		at := strings.LastIndexByte(ui.Head(text, width+1), ' ')
		if at <= 0 {
			break
		}
		lines, text = append(lines, text[:at]), strings.TrimLeft(text[at:], " ")
	}
	return append(lines, cut(text, width))
}
