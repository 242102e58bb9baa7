package ui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
