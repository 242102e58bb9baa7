package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
)

// Levels of a strip, from none to most: blocks where the locale has UTF-8, else ASCII.
var (
	blocks = []rune(" ▁▂▃▄▅▆▇█")
	ascii  = []rune(" .:-=+*#%@")
)

// levels are those that the locale can show.
func levels(env flags.Env) []rune {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(env[name]); locale != "" {
			if strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
				return blocks
			}
			return ascii
		}
	}
	return ascii
}

const besideStrip = 38 // columns of a class's name and its total

// strip has a line for each class over the span, all to one scale. width is that of the terminal, or 0.
func strip(b *strings.Builder, r *report, env flags.Env, width int) {
	join := 1 // buckets in a column
	for width > 0 && (r.Buckets+join-1)/join > max(width-besideStrip, 10) {
		join++
	}
	columns := (r.Buckets + join - 1) / join
	from, to := r.From.Local().Format(time.TimeOnly), r.To.Local().Format(time.TimeOnly)
	fmt.Fprintf(b, "%-16s  %s%s%s\n", "", from, strings.Repeat(" ", max(1, columns-len(from)-len(to))), to)
	most := 1
	lines := make([][]int, len(r.Classes))
	for i, c := range r.Classes {
		lines[i] = joined(c.Buckets, join)
		most = max(most, slices.Max(lines[i]))
	}
	shown := levels(env)
	for i, c := range r.Classes {
		var line strings.Builder
		for _, n := range lines[i] {
			line.WriteRune(shown[level(n, most, len(shown)-1)])
		}
		fmt.Fprintf(b, "%-16s  %s  %s, %s\n", table.Printable(className(c.Class)), line.String(),
			waitedText(c.Waited), share(c.Waited, r.Waited))
	}
}

// level is 0 for nothing, and at least 1 for anything.
func level(n, most, levels int) int {
	if n == 0 {
		return 0
	}
	return max(1, (n*levels+most/2)/most)
}

func joined(buckets []int, join int) (all []int) {
	for part := range slices.Chunk(buckets, join) {
		n := 0
		for _, one := range part {
			n += one
		}
		all = append(all, n)
	}
	return all
}

func className(class string) string {
	switch class {
	case "holder":
		return "behind a holder"
	case "unknown":
		return "not reported"
	}
	return strings.ReplaceAll(class, "_", " ")
}

func waitedText(seconds int) string {
	if seconds < 60 {
		return fmt.Sprintf("%ds", seconds)
	}
	return output.Short(time.Duration(seconds) * time.Second)
}

func share(part, of int) string {
	switch percent := 100 * part / max(of, 1); {
	case percent == 0 && part > 0:
		return "<1%"
	default:
		return fmt.Sprintf("%d%%", percent)
	}
}
