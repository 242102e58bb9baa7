package compose_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/process"
)

// patience bounds every wait, on a machine that has much else to do.
const patience = 40 * time.Second

// program is one of the stack that runs here instead of in a container.
type program struct {
	*process.Process
	t   *testing.T
	bin string
}

// start runs a program until the test ends. It gets no variables but these.
func start(t *testing.T, env map[string]string, bin string, args ...string) *program {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = []string{}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	p, err := process.Start(filepath.Base(bin), t.TempDir(), cmd)
	must(t, err)
	t.Cleanup(func() { must(t, p.Kill()) })
	return &program{Process: p, t: t, bin: bin}
}

// terminate asks the program to end, and wants it to end well.
func (p *program) terminate() {
	p.t.Helper()
	must(p.t, p.Err())
	must(p.t, p.StopWithin(patience))
	if status := p.ExitCode(); status != 0 {
		p.t.Errorf("%s: exit %d\n%s", p.bin, status, p.Log())
	}
}

// await polls until done. If that takes too long, it shows what the program said.
func (p *program) await(what string, done func() bool) {
	p.t.Helper()
	p.awaitFor(patience, what, done)
}

func (p *program) awaitFor(limit time.Duration, what string, done func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not within %v; %s said\n%s", what, limit, p.bin, last(p.Log(), 5000))
		}
	}
}

func last(text string, n int) string { return text[max(0, len(text)-n):] }

// serving returns the record, in JSON, with which one of our servers says where it
// can be reached.
func (p *program) serving() (record map[string]any) {
	p.t.Helper()
	p.await("it serves", func() bool {
		for line := range strings.Lines(p.Log()) {
			if json.Unmarshal([]byte(line), &record) == nil && record["msg"] == "serving" {
				return true
			}
		}
		return false
	})
	return record
}

var httpClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

// get returns a page, or nothing while there is none.
func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	resp, err := httpClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

// query decodes what an API answers; into stays as it is while there is no answer.
func query(t *testing.T, url string, into any) {
	t.Helper()
	if text := get(t, url); text != "" {
		must(t, json.Unmarshal([]byte(text), into))
	}
}

// freeAddress is where Prometheus listens: it must know, to scrape itself.
func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(locktest.Port(t)))
}
