package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// runbookSections are those that every runbook has, in this order.
var runbookSections = []string{
	"## Meaning", "## Impact", "## First command", "## Decision table", "## Remedy", "## Prevention",
}

// runbookCommands are those of the lockscope binary that runbooks may name, with their flags.
var runbookCommands = map[string][]string{
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

// checkRunbook returns everything wrong with the runbook of an alert.
func checkRunbook(alert, text string, known *catalogue.Catalogue) []error {
	var bad []error
	if !strings.HasPrefix(text, "# "+alert+"\n") {
		bad = append(bad, fmt.Errorf("does not begin with # %s", alert))
	}
	at := -1
	for _, s := range runbookSections {
		i := strings.Index(text, "\n"+s+"\n")
		if i <= at {
			bad = append(bad, fmt.Errorf("%s is missing, or not where it belongs", s))
		}
		at = i
	}
	if at >= 0 && !firstCommand.MatchString(text) {
		bad = append(bad, errors.New("the first command does not begin with a block of sh or promql"))
	}
	if m := decisionTable.FindStringSubmatch(text); m == nil || strings.Count(m[1], "\n") < 3 {
		bad = append(bad, errors.New("the decision table needs the columns You see, It means and Do, and three rows"))
	}
	for _, block := range codeBlocks.FindAllStringSubmatch(text, -1) {
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
	firstCommand  = regexp.MustCompile("(?s)\n## First command\n\n([^`#]*\n)?```(sh|promql)\n")
	decisionTable = regexp.MustCompile(`\n## Decision table\n\n\| You see \| It means \| Do \|\n` +
		`\|---\|---\|---\|\n((\|.*\|.*\|.*\|\n)+)`)
	codeBlocks     = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	inlineCommands = regexp.MustCompile("`(lockscope [^`]+)`")
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
	for _, m := range inlineCommands.FindAllStringSubmatch(text, -1) {
		bad = append(bad, checkCommand(m[1])...)
	}
	return bad
}

func checkCommand(line string) []error {
	words := strings.Fields(line)
	flags, ok := runbookCommands[words[1]]
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

const exampleRunbook = "# Alert\n\n## Meaning\n\nx\n\n## Impact\n\nx\n\n## First command\n\nRun it there:\n\n" +
	"```promql\ndistributed_lock_nodes{job=\"x\"}\n```\n\n```text\n{} 3\n```\n\n" +
	"## Decision table\n\n| You see | It means | Do |\n|---|---|---|\n| 1 | a | b |\n| 2 | a | b |\n| 3 | a | b |\n\n" +
	"```sh\nlockscope scan --redis redis://a --output=json\nredis-cli PING\n```\n\n" +
	"## Remedy\n\nSee `lockscope doctor --ttl 10s`.\n\n## Prevention\n\nx\n"

// TestRunbookShape breaks one rule after another.
func TestRunbookShape(t *testing.T) {
	known, err := catalogue.Read("../../instrument/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"# Alert", "# Other", "does not begin with"},
		{"## Impact", "## Effect", "## Impact is missing"},
		{"## Meaning", "## Remedy", "## Meaning is missing"},
		{"## First command", "## Look", "## First command is missing"},
		{"## Prevention", "## Later", "## Prevention is missing"},
		{"```promql\n", "```text\n", "the first command does not begin"},
		{"| You see |", "| Seen |", "the decision table needs"},
		{"| 3 | a | b |\n", "", "the decision table needs"},
		{`job="x"`, `job=x`, "unexpected identifier"},
		{"distributed_lock_nodes", "distributed_lock_servers", "no metric is called"},
		{`job="x"`, `node="x"`, "has no label node"},
		{"lockscope scan", "lockscope sweep", "there is no lockscope sweep"},
		{"--output=json", "--format=json", "has no flag --format"},
		{"lockscope doctor --ttl", "lockscope doctor --age", "has no flag --age"},
		{"```sh", "```bash", `a block of "bash"`},
	} {
		var all []string
		for _, err := range checkRunbook("Alert", strings.Replace(exampleRunbook, c.old, c.new, 1), known) {
			all = append(all, err.Error())
		}
		got := strings.Join(all, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.new, got, c.want)
		}
	}
}
