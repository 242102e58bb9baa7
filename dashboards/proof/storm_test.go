//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/lock/locktest/process"
)

// A minute of the shipped configuration takes a second in this test.
var waits = strings.NewReplacer(
	"group_wait: 30s", "group_wait: 500ms", "group_wait: 3m", "group_wait: 3s", "group_wait: 90s", "group_wait: 1500ms",
	"group_interval: 5m", "group_interval: 5s", "group_interval: 1m", "group_interval: 1s",
)

// notification is what a receiver gets.
type notification struct {
	Receiver string
	Alerts   []struct{ Labels map[string]string }
}

func (n notification) name() string {
	l := n.Alerts[0].Labels
	return n.Receiver + ": " + strings.TrimPrefix(l["alertname"], "DistributedLock") + " " + l["cluster"]
}

// TestStorm loses a quorum with 300 resources: 1,512 alerts, arriving one after the other, are two notifications at
// most. Alerts of another cluster are sent as usual.
func TestStorm(t *testing.T) {
	told := make(chan notification, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notification
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		told <- n
	}))
	defer hook.Close()
	url := alertmanager(t, hook.URL)

	lately := alert("QuorumLostLately", "none", "short_window", "15m", "cluster", "east")
	first := []map[string]string{lately} // a minute before the alert about the quorum fires
	var second, third []map[string]string
	for i := range 300 {
		resource := fmt.Sprintf("order-%d", i)
		first = append(first, alert("Lost", "critical", "resource", resource, "reason", "extend_failed"))
		second = append(second, burn("Acquire", resource, "1h"), burn("Acquire", resource, "6h"),
			burn("Wait", resource, "1h"))
		third = append(third, alert("AcquiresStalled", "critical", "resource", resource))
	}
	third = append(third, alert("QuorumLost", "critical"), alert("QuorumAtRisk", "critical"),
		alert("QuorumLost", "critical", "job", "lockscope"), alert("QuorumAtRisk", "critical", "job", "lockscope"))
	for i := range 3 {
		node := fmt.Sprintf("redis-%d", i)
		third = append(third, alert("NodeDown", "warning", "lock_node", node),
			alert("ScannerStale", "warning", "job", "lockscope", "lock_node", node))
	}
	third = append(third, alert("Watchdog", "none", "job", ""))
	for _, stalled := range []map[string]string{ // clusters without an alert about a lost quorum
		alert("AcquiresStalled", "critical", "resource", "order-1"),
		alert("WaitersPilingUp", "warning", "resource", "order-1"),
		alert("WaitErrorBudgetBurn", "warning", "resource", "order-1"),
		alert("NodeDown", "warning", "lock_node", "redis-1"),
		alert("InstanceQuorumAtRisk", "warning", "instance", "a"),
	} {
		stalled["cluster"] = "north"
		third = append(third, stalled)
	}
	post(t, url, first)
	post(t, url, second)
	elsewhere := burn("Acquire", "order-1", "1h")
	elsewhere["cluster"] = "west"
	post(t, url, append(third, elsewhere))

	seen := collect(t, told)
	for _, want := range []string{"team: QuorumLost east", "team: AcquireErrorBudgetBurn west",
		"team: AcquiresStalled north", "watchdog: Watchdog "} {
		if !slices.Contains(seen, want) {
			t.Errorf("no notification of %s: %q", want, seen)
		}
	}
	for _, name := range seen {
		if strings.HasSuffix(name, " north") && name != "team: AcquiresStalled north" {
			t.Errorf("a notification of %s, which follows from calls that nobody serves", name)
		}
	}
	if storm := slices.DeleteFunc(seen, func(s string) bool { return !strings.HasSuffix(s, " east") }); len(storm) > 2 {
		t.Errorf("%d notifications: %q", len(storm), storm)
	}
}

// collect waits for the notification about the other cluster, which is held back as long as those of the storm, and for
// all others until then.
func collect(t *testing.T, told <-chan notification) (seen []string) {
	limit := time.After(time.Minute)
	var quiet <-chan time.Time
	for {
		select {
		case n := <-told:
			if n.Receiver == "watchdog" && slices.Contains(seen, n.name()) {
				continue // a repeated notification
			}
			seen = append(seen, n.name())
			t.Logf("%s, %d alerts", n.name(), len(n.Alerts))
			if strings.HasSuffix(n.name(), " west") {
				quiet = time.After(2 * time.Second)
			}
		case <-quiet:
			return seen
		case <-limit:
			t.Fatalf("notifications of %q only", seen)
		}
	}
}

func alert(name, severity string, labels ...string) map[string]string {
	all := map[string]string{"alertname": "DistributedLock" + name, "severity": severity, "cluster": "east",
		"job": "shop"}
	if severity == "none" {
		delete(all, "cluster")
	}
	for pair := range slices.Chunk(labels, 2) {
		all[pair[0]] = pair[1]
	}
	return all
}

func burn(of, resource, window string) map[string]string {
	return alert(of+"ErrorBudgetBurn", "critical", "resource", resource, "long_window", window)
}

// alertmanager starts one with the shipped configuration and all receivers at url.
func alertmanager(t *testing.T, url string) string {
	bin := ""
	for _, name := range []string{os.Getenv("LOCKSCOPE_ALERTMANAGER"), "prometheus-alertmanager", "alertmanager"} {
		if path, err := exec.LookPath(name); err == nil && bin == "" {
			bin = path
		}
	}
	if bin == "" {
		t.Fatal("no alertmanager: make deps installs it")
	}
	text, err := fs.ReadFile(dashboards.FS(), "alertmanager/alertmanager.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := waits.Replace(string(text))
	for _, name := range []string{"team", "watchdog"} {
		config = strings.Replace(config, "  - name: "+name+"\n",
			fmt.Sprintf("  - name: %s\n    webhook_configs: [{url: %q}]\n", name, url), 1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start("alertmanager", dir,
		exec.Command(bin, "--config.file="+file, "--storage.path="+filepath.Join(dir, "alerts"),
			"--web.listen-address=127.0.0.1:0", "--cluster.listen-address="))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	address, err := p.AwaitAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + address
}

func post(t *testing.T, url string, all []map[string]string) {
	t.Helper()
	var body []map[string]any
	for _, labels := range all {
		body = append(body, map[string]any{"labels": labels})
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+"/api/v2/alerts", "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%d alerts: %s", len(all), resp.Status)
	}
	http.DefaultClient.CloseIdleConnections()
}
