// Package runbook checks the shape of runbooks, and that the commands and queries in them exist.
package runbook

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// Sections that every runbook has, in this order.
var sections = []string{
	"## Meaning", "## Impact", "## First command", "## Decision table", "## Remedy", "## Prevention",
}

// commands are those of the lockscope binary that runbooks may name, with their flags.
var commands = map[string][]string{
	"scan": {"--redis", "--prefix", "--pattern", "--max-ttl", "--max-hold", "--max-term", "--output", "--textfile",
		"--pushgateway", "--fail-on", "--confirm-after", "--repair", "--yes", "--deadline", "--page-size", "--pause",
		"--checks", "--min-age", "--redlock"},
	"repair": {"--redis", "--classes", "--action", "--out", "--yes", "--min-age", "--audit-log", "--redlock"},
	"serve": {"--redis", "--prefix", "--pattern", "--max-ttl", "--max-hold", "--max-term", "--interval", "--elect",
		"--deadline", "--page-size", "--pause", "--checks"},
	"doctor": {"--redis", "--output", "--for", "--ttl", "--node-timeout", "--acl-user"},
	"init":   {"--redis", "--output", "--max-ttl", "--if-new", "--restarted"},
	"list":   {"--redis", "--output", "--filter", "--sort", "--limit", "--waiters", "--slots"},
}

// Check returns everything wrong with the runbook of an alert.
func Check(alert, text string, known *catalogue.Catalogue) []error {
	var bad []error
	if !strings.HasPrefix(text, "# "+alert+"\n") {
		bad = append(bad, fmt.Errorf("does not begin with # %s", alert))
	}
	at := -1
	for _, s := range sections {
		i := strings.Index(text, "\n"+s+"\n")
		if i <= at {
			bad = append(bad, fmt.Errorf("%s is missing, or not where it belongs", s))
		}
		at = i
	}
	if at >= 0 && !first.MatchString(text) {
		bad = append(bad, errors.New("the first command does not begin with a block of sh or promql"))
	}
	if m := table.FindStringSubmatch(text); m == nil || strings.Count(m[1], "\n") < 3 {
		bad = append(bad, errors.New("the decision table needs the columns You see, It means and Do, and three rows"))
	}
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		switch block[1] {
		case "promql":
			bad = append(bad, checkQuery(block[2], known)...)
		case "sh":
			bad = append(bad, checkCommands(block[2])...)
		case "text": // what a command printed
		default:
			bad = append(bad, fmt.Errorf("a block of %q: use promql, sh or text", block[1]))
		}
	}
	return append(bad, checkInline(text)...)
}

var (
	first = regexp.MustCompile("(?s)\n## First command\n\n([^`#]*\n)?```(sh|promql)\n")
	table = regexp.MustCompile(`\n## Decision table\n\n\| You see \| It means \| Do \|\n` +
		`\|---\|---\|---\|\n((\|.*\|.*\|.*\|\n)+)`)
	blocks = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	inline = regexp.MustCompile("`(lockscope [^`]+)`")
)

// checkQuery parses an expression, with example values for labels.
func checkQuery(text string, known *catalogue.Catalogue) []error {
	tree, err := promql.Parse(text)
	if err != nil {
		return []error{fmt.Errorf("%s: %w", strings.TrimSpace(text), err)}
	}
	if _, err := known.Check(tree); err != nil {
		return []error{err}
	}
	return nil
}

func checkCommands(text string) []error {
	var bad []error
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "lockscope ") {
			bad = append(bad, checkCommand(line)...)
		}
	}
	return bad
}

func checkInline(text string) []error {
	var bad []error
	for _, m := range inline.FindAllStringSubmatch(text, -1) {
		bad = append(bad, checkCommand(m[1])...)
	}
	return bad
}

func checkCommand(line string) []error {
	words := strings.Fields(line)
	flags, ok := commands[words[1]]
	if !ok {
		return []error{fmt.Errorf("%s: there is no lockscope %s", line, words[1])}
	}
	var bad []error
	for _, w := range words[2:] {
		name, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") && !slices.Contains(flags, name) {
			bad = append(bad, fmt.Errorf("%s: lockscope %s has no flag %s", line, words[1], name))
		}
	}
	return bad
}
