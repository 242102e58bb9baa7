package runbook_test

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/runbook"
)

const page = "# Alert\n\n## Meaning\n\nx\n\n## Impact\n\nx\n\n## First command\n\nRun it there:\n\n" +
	"```promql\ndistributed_lock_nodes{job=\"x\"}\n```\n\n```text\n{} 3\n```\n\n" +
	"## Decision table\n\n| You see | It means | Do |\n|---|---|---|\n| 1 | a | b |\n| 2 | a | b |\n| 3 | a | b |\n\n" +
	"```sh\nlockscope scan --redis redis://a --output=json\nredis-cli PING\n```\n\n" +
	"## Remedy\n\nSee `lockscope doctor --ttl 10s`.\n\n## Prevention\n\nx\n"

func TestCheck(t *testing.T) {
	known, err := catalogue.Read("../../../../instrument/doc.go")
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
		for _, err := range runbook.Check("Alert", strings.Replace(page, c.old, c.new, 1), known) {
			all = append(all, err.Error())
		}
		got := strings.Join(all, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.new, got, c.want)
		}
	}
}
