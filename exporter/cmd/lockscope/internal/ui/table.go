package ui

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	gap       = 2  // blanks between columns
	narrowest = 12 // no column is squeezed below this
)

// Style dresses a cell that is already padded, for instance in a colour.
type Style func(column int, cell, padded string) string

// Layout say how a table is laid out. The zero value is for files and pipes.
type Layout struct {
	Width int   // of the terminal; 0: lines may be of any length
	Style Style // nil: plain
}

// TableText is head and rows. Cells wider than their column go on in the next
// line; nothing is cut off. Control characters are written as escapes, so that no
// cell can move the cursor. Rows may be shorter than head.
//
// Where a terminal is too narrow for the columns, each cell has a line of its own, after the name of its column.
func TableText(head []string, rows [][]string, opt Layout) string {
	rows = printableRows(rows)
	widths, fits := fit(head, rows, opt.Width)
	var b strings.Builder
	if !fits {
		for _, row := range rows {
			writeUpright(&b, head, row, opt)
		}
		return b.String()
	}
	writeRow(&b, head, widths, nil)
	for _, row := range rows {
		writeRow(&b, row, widths, opt.Style)
	}
	return b.String()
}

func printableRows(rows [][]string) [][]string {
	clean := make([][]string, len(rows))
	for i, row := range rows {
		clean[i] = make([]string, len(row))
		for j, cell := range row {
			clean[i][j] = Printable(cell)
		}
	}
	return clean
}

// fit gives each column its widest cell, then takes from the widest column until
// the table fits, if it does.
func fit(head []string, rows [][]string, limit int) (widths []int, fits bool) {
	widths = make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for limit > 0 && total > limit {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= narrowest {
			return widths, false
		}
		widths[widest]--
		total--
	}
	return widths, true
}

// writeUpright writes a row as lines of a column's name and its cell, and an empty line.
func writeUpright(b *strings.Builder, head, row []string, opt Layout) {
	left := 0
	for _, name := range head {
		left = max(left, Width(name))
	}
	style := opt.Style
	for i, cell := range row {
		if opt.Style != nil {
			style = func(column int, _, padded string) string {
				if column == 0 {
					return padded
				}
				return opt.Style(i, cell, padded)
			}
		}
		writeRow(b, []string{head[i], cell}, []int{left, max(opt.Width-left-gap, 1)}, style)
	}
	b.WriteByte('\n')
}

func writeRow(b *strings.Builder, row []string, widths []int, style Style) {
	cells := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		cells[i] = wrap(cell, widths[i])
		height = max(height, len(cells[i]))
	}
	for line := range height {
		var text strings.Builder
		for i := range row {
			part := ""
			if line < len(cells[i]) {
				part = cells[i][line]
			}
			padded := part + strings.Repeat(" ", max(0, widths[i]-Width(part)))
			if style != nil {
				padded = style(i, row[i], padded)
			}
			text.WriteString(padded)
			text.WriteString(strings.Repeat(" ", gap))
		}
		b.WriteString(strings.TrimRight(text.String(), " "))
		b.WriteByte('\n')
	}
}

// wide are the letters that take two columns of a terminal: East Asian scripts
// and the pictures most terminals draw that way.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0xa4cf, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// Width is how many columns of a terminal text takes.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wrap breaks text into lines of at most width columns, at a blank where there is one.
func wrap(text string, width int) []string {
	var lines []string
	for Width(text) > width {
		line := Head(text, width)
		if line == "" {
			_, size := utf8.DecodeRuneInString(text)
			line = text[:size]
		}
		if blank := strings.LastIndexByte(line, ' '); blank > 0 && text[len(line)] != ' ' {
			line = line[:blank]
		}
		lines = append(lines, strings.TrimRight(line, " "))
		text = strings.TrimLeft(text[len(line):], " ")
	}
	return append(lines, text)
}

// Head is the longest beginning of text that fits into width columns.
func Head(text string, width int) string {
	columns := 0
	for i, r := range text {
		if columns += runeWidth(r); columns > width {
			return text[:i]
		}
	}
	return text
}

// Printable writes as escapes what a terminal would obey instead of show: control
// characters, marks that turn the direction of text, bytes that are not UTF-8.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[0])|0x100, 16)[1:])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		text = text[size:]
	}
	return b.String()
}
