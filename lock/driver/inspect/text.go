package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// KeyText returns the key in printable form: unchanged if it is one line of printable text, else as a quoted Go
// string. [strconv.Unquote] restores the bytes of one that starts with a quotation mark.
func KeyText(key string) string {
	if key != "" && utf8.ValidString(key) && !strings.HasPrefix(key, `"`) && !strings.ContainsFunc(key, unprintable) {
		return key
	}
	return strconv.Quote(key)
}

func unprintable(r rune) bool { return !strconv.IsPrint(r) }

// Short formats a duration with about three digits.
func Short(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d >= time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
}

// Whole formats a duration without fractions of a second: 250ms, 41s, 1m01s, 1h00m.
func Whole(d time.Duration) string {
	unit := time.Second
	if d < time.Second {
		unit = time.Millisecond
	}
	if d = d.Round(unit); d < time.Minute {
		return d.String()
	}
	return Short(d)
}

// Count returns "1 key" or "2 keys" for a noun such as key.
func Count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
