package views

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// chain is a waiter behind billing, which waits for the stock that another process holds.
var chain = state.WaitChain{Class: "holder", Waited: 90, Links: []state.PastLink{
	{Resource: "order:1", Backend: "redis", Instance: "web-1", CallSite: "web/cart.go:10", Holder: "bill-1",
		HolderSite: "bill/run.go:7"},
	{Resource: "stock:7", Backend: "redis", Instance: "bill-1", CallSite: "bill/run.go:9", Holder: "stock-2",
		HolderSite: "stock/count.go:88"},
}}

func flameOf(t *testing.T, chains ...state.WaitChain) []byte {
	t.Helper()
	r, body := askView(t, viewOf(t, &asked{chains: chains}, "flame"), http.MethodGet, "/?from=-5m", "")
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%d: %s", r.StatusCode, body)
	}
	return []byte(body)
}

// TestFlame: a stack is the waiter, its blocker, and what blocks that.
func TestFlame(t *testing.T) {
	p, err := profile.ParseData(flameOf(t, chain,
		state.WaitChain{Class: "no_quorum", Waited: 5, Links: []state.PastLink{{Resource: "order:1", Instance: "web-1"}}},
		state.WaitChain{Class: "holder", Waited: 1, Links: []state.PastLink{{Resource: "order:2"}}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 3 || p.Sample[0].Value[0] != 90 || p.Sample[0].Value[1] != 90e9 ||
		p.DefaultSampleType != "delay" || p.DurationNanos != 300e9 {
		t.Fatalf("%v", p)
	}
	for i, want := range [][]string{
		{"web/cart.go:10 (web-1) waits for order:1",
			"bill/run.go:7 (bill-1), waiting at bill/run.go:9 holds order:1, waits for stock:7",
			"stock/count.go:88 (stock-2) holds stock:7"},
		{"web-1 waits for order:1", "no quorum"},
		{"unnamed waits for order:2", "holder unknown"},
	} {
		var stack []string
		for _, l := range p.Sample[i].Location {
			stack = append([]string{l.Line[0].Function.Name}, stack...)
		}
		if strings.Join(stack, "; ") != strings.Join(want, "; ") {
			t.Errorf("stack %q, want %q", stack, want)
		}
	}
	if l := p.Sample[0].Label; l["resource"][0] != "order:1" || l["class"][0] != "holder" || l["instance"][0] != "web-1" {
		t.Errorf("labels %v", l)
	}
	if f := p.Sample[0].Location[0].Line[0]; f.Function.Filename != "stock/count.go" || f.Line != 88 {
		t.Errorf("the last frame is in %s, line %d", f.Function.Filename, f.Line)
	}
}

// TestPprof: the tool reads the profile, and its total names the last holder of the chain.
func TestPprof(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chains.pb.gz")
	if err := os.WriteFile(file, flameOf(t, chain), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"Type: delay", "90s   100%", "stock/count.go:88 (stock-2) holds stock:7"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-traces", file).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "web/cart.go:10 (web-1) waits for order:1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFlameOfNobody: without waits, there is a profile without samples.
func TestFlameOfNobody(t *testing.T) {
	p, err := profile.ParseData(flameOf(t))
	if err != nil || len(p.Sample) != 0 {
		t.Errorf("%v, %v", p, err)
	}
}
