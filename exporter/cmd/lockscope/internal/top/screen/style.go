package screen

import (
	"strings"
	"unicode/utf8"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

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
