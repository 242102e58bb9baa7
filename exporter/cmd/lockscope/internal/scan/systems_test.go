package scan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestScanSystemsPublish: metrics, alerts and memory of a scan are the same whatever it reads.
func TestScanSystemsPublish(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	put(t, client, "lock:leak")
	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:leak", "v", 0)
	hook, posted := cmdtest.Webhook(t)
	dir := t.TempDir()
	state, textfile := filepath.Join(dir, "state"), filepath.Join(dir, "lockscope.prom")
	args := cmdtest.Quick("--etcd", client.Endpoints()[0], "--redis", redis.Addr(), "--textfile", textfile, "--state", state,
		"--webhook", hook, "-o", "json")
	var first, second report.Document
	command(t, args...).Decode(t, &first)
	time.Sleep(2 * time.Millisecond)
	o := command(t, args...)
	o.Want(t, ui.ExitFindings)
	o.Decode(t, &second)
	if len(first.Findings) != 2 || len(second.Findings) != 2 {
		t.Fatalf("findings %+v, then %+v", first.Findings, second.Findings)
	}
	for i, f := range second.Findings {
		if !f.FirstSeen.Equal(first.Findings[i].FirstSeen) {
			t.Errorf("first seen %v, and before %v", f.FirstSeen, first.Findings[i].FirstSeen)
		}
	}
	address := strings.TrimPrefix(client.Endpoints()[0], "http://")
	text, err := os.ReadFile(textfile)
	cmdtest.Must(t, err)
	for _, line := range []string{
		`distributed_lock_scanner_up{group="etcd",lock_node="` + address + `"} 1`,
		`distributed_lock_scanner_leaked_locks{lock_node="` + address + `"} 1`,
		`distributed_lock_scanner_finding_keys{class="no_ttl"} 2`,
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
	if files, _ := filepath.Glob(state + "*"); len(files) != 2 {
		t.Errorf("states %q: each group has its own", files)
	}
	if len(posted) != 4 {
		t.Errorf("%d posts of two groups in two scans", len(posted))
	}
}
