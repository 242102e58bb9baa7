package deploy

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

var reference = regexp.MustCompile(`^\$(\w+|\{[^}]*\})`)

// standIns replaces Grafana's variables with values that parse: durations within brackets and after
// offset, numbers elsewhere. Variables in strings stay. Restore puts the variables back into the printed text.
func standIns(text string) (plain string, restore func(string) string) {
	var out strings.Builder
	var back []string
	var quote byte
	brackets := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' && i+1 < len(text) {
				out.WriteByte(c)
				i++
				c = text[i]
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '[':
			brackets++
		case c == ']':
			brackets--
		case c == '$':
			if name := reference.FindString(text[i:]); name != "" {
				standIn := uncommon(len(back), brackets > 0 ||
					strings.HasSuffix(strings.TrimRight(out.String(), " "), "offset"))
				out.WriteString(standIn)
				back = append(back, standIn, name)
				i += len(name) - 1
				continue
			}
		}
		out.WriteByte(c)
	}
	return out.String(), strings.NewReplacer(back...).Replace
}

// uncommon returns a duration or a number that nobody writes by hand.
func uncommon(n int, duration bool) string {
	if duration {
		return model.Duration(9*24*time.Hour + 7*time.Hour + time.Duration(n)*time.Minute + 53*time.Second).String()
	}
	return strconv.Itoa(709301+n) + ".0625"
}
