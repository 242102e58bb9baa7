package runbook_test

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/runbook"
)

const page = "# Alert\n\n## Meaning\n\nx\n\n## Impact\n\nx\n\n## Look\n\n1. a\n\n   ```promql\n   distributed_lock_nodes{job=\"x\"}\n   ```\n\n" +
	"2. b\n\n   ```sh\n   lockscope scan --redis redis://a --output=json\n   redis-cli PING\n   ```\n\n3. c\n\n## Remedy\n\nSee `lockscope doctor --ttl 10s`.\n"

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
		{"3. c", "c", "2 numbered things"},
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
