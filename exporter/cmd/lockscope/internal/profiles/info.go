package profiles

import (
	"slices"
	"strings"
)

// firstSection begins the reply to INFO of every section.
const firstSection = "# Server"

// info is the reply to INFO as the product has it.
func (p Profile) info(text string) string {
	var out strings.Builder
	section, reported := "", make(map[string]bool)
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
			section = name
		}
		field, _, isField := strings.Cut(line, ":")
		value, changed := p.set[field]
		switch {
		case slices.Contains(p.sections, section), isField && slices.Contains(p.hidden, field):
			continue
		case isField && changed:
			line, reported[field] = field+":"+value+"\r\n", true
		}
		out.WriteString(line)
	}
	return p.added(out.String(), reported)
}

// added puts the fields that Redis has not into the first section.
func (p Profile) added(text string, reported map[string]bool) string {
	var fields []string
	for field, value := range p.set {
		if !reported[field] {
			fields = append(fields, field+":"+value+"\r\n")
		}
	}
	slices.Sort(fields)
	return strings.Replace(text, firstSection+"\r\n", firstSection+"\r\n"+strings.Join(fields, ""), 1)
}
