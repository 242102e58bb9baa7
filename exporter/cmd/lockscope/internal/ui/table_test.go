package ui

import (
	"strings"
	"testing"
	"unicode"
)

func TestColumnsAlign(t *testing.T) {
	got := TableText([]string{"KEY", "TTL"}, [][]string{{"lock:order", "none"}, {"lock:日本", "5s"}, {"short"}}, Layout{})
	want := "KEY         TTL\n" +
		"lock:order  none\n" +
		"lock:日本   5s\n" +
		"short\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWideCellsWrapAndLoseNothing(t *testing.T) {
	key := "lock:" + strings.Repeat("x", 100)
	text := "a sentence with several words that goes on for longer than there is room"
	got := TableText([]string{"KEY", "DETAIL"}, [][]string{{key, text}}, Layout{Width: 60})
	var keyBack, textBack string
	for line := range strings.Lines(got) {
		line = strings.TrimRight(line, "\n")
		if Width(line) > 60 {
			t.Errorf("%d columns wide: %q", Width(line), line)
		}
		if line == strings.TrimRight(line, " ") && !strings.HasPrefix(line, "KEY") {
			cell, rest, _ := strings.Cut(line, "  ")
			keyBack += cell
			textBack += strings.TrimLeft(rest, " ") + " "
		}
	}
	if keyBack != key || strings.Join(strings.Fields(textBack), " ") != text {
		t.Errorf("lost something:\n%s", got)
	}
}

func TestNarrowTerminalHasALineForEachCell(t *testing.T) {
	row := []string{strings.Repeat("e", 50), strings.Repeat("f", 20), strings.Repeat("g", 20)}
	got := TableText([]string{"A", "LONG", "C"}, [][]string{{"a", "b c", "d"}, row}, Layout{Width: 30})
	want := "A     a\nLONG  b c\nC     d\n\n" +
		"A     " + row[0][:24] + "\n      " + row[0][24:48] + "\n      ee\nLONG  " + row[1] + "\nC     " + row[2] + "\n\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStyleDoesNotMoveColumns(t *testing.T) {
	paint := func(column int, cell, padded string) string {
		if column == 0 && cell == "fail" {
			return "\x1b[31m" + padded + "\x1b[0m"
		}
		return padded
	}
	got := TableText([]string{"RESULT", "CHECK"}, [][]string{{"fail", "role"}}, Layout{Style: paint})
	if want := "RESULT  CHECK\n\x1b[31mfail  \x1b[0m  role\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"lock:a":           "lock:a",
		"a\x1b[2J\r\nb":    `a\x1b[2J\r\nb`,
		"\xff\x00é日":       `\xff\x00é日`,
		"right\u202eleft":  `right\u202eleft`,
		"it's":             "it's",
		"bell\a del\x7f":   `bell\a del\x7f`,
		"\u0301 combining": "\u0301 combining",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzWrite(f *testing.F) {
	f.Add("lock:a\x1b[31m", "b\n", 20)
	f.Fuzz(func(t *testing.T, a, b string, width int) {
		got := TableText([]string{"A", "B"}, [][]string{{a, b}}, Layout{Width: width % 200})
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' {
				t.Fatalf("control character %q in %q", r, got)
			}
		}
	})
}
