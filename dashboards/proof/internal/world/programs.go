package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// Packages of the binaries, which run as a user would run them.
const (
	demoPackage      = "github.com/lockscope/lockscope/examples/demo"
	lockscopePackage = "github.com/lockscope/lockscope/exporter/cmd/lockscope"
)

const buildGrace = 5 * time.Second

// build makes both binaries. It must run inside the module.
func (w *World) build(ctx context.Context) error {
	w.cfg.Tell("building the demo and lockscope")
	bin := filepath.Join(w.dir, "bin")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), demoPackage, lockscopePackage)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the image
	cmd.WaitDelay = buildGrace                      // compilers of an interrupted go command hold its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

func (w *World) binary(name string) string { return filepath.Join(w.dir, "bin", name) }

var (
	demoPorts = regexp.MustCompile(`redis-server processes on 127\.0\.0\.1, ports ([\d ]+)\n`)
	demoPIDs  = regexp.MustCompile(`their pids: ([\d ]+)\n`)
	demoURL   = regexp.MustCompile(`metrics (http://\S+)/metrics\n`)
	demoLeak  = regexp.MustCompile(`HELD .*legacy-import`)
)

func (w *World) startDemo(ctx context.Context) error {
	var err error
	if w.demo.Process, err = w.run("demo", w.binary("demo"), "-for", w.cfg.Length.String(), "-listen",
		"127.0.0.1:0"); err != nil {
		return err
	}
	url, err := w.demo.Await(ctx, demoURL) // on the last of the three lines
	if err != nil {
		return err
	}
	w.demo.url = url[1]
	ports, err := w.demo.Await(ctx, demoPorts)
	if err != nil {
		return err
	}
	pids, err := w.demo.Await(ctx, demoPIDs)
	if err != nil {
		return err
	}
	w.nodes, err = parseNodes(ports[1], pids[1])
	w.cfg.Tell("demo on %d redis-servers, %s for %v", len(w.nodes), w.demo.url, w.cfg.Length)
	return err
}

// AwaitDemoLeak returns when the demo has planted its key without a TTL, for which it needs every node.
func (w *World) AwaitDemoLeak(ctx context.Context) error {
	_, err := w.demo.Await(ctx, demoLeak)
	return err
}

var serving = regexp.MustCompile(`"msg":"serving","urls":\["(http://[^"]+)"\]`)

// StartLockscope starts a serve with short intervals and a low limit for long holds. After StopLockscope it can be
// started again, at the same address.
func (w *World) StartLockscope(ctx context.Context) error {
	address := "127.0.0.1:0"
	if w.lockscope.url != "" {
		address = strings.TrimPrefix(w.lockscope.url, "http://")
	}
	state, err := w.memory()
	if err != nil {
		return err
	}
	w.lockscope.Process, err = w.run("lockscope", w.binary("lockscope"), "serve", "--redis",
		strings.Join(w.urls(), ","),
		"--interval", "4s", "--confirm-after", "1s", "--deadline", "20s", "--max-hold", maxHold.String(),
		"--export-leaked-keys", "5", "--state", state,
		"--web.listen-address", address, "--log.format", "json")
	if err != nil {
		return err
	}
	url, err := w.lockscope.Await(ctx, serving)
	if err != nil {
		return err
	}
	w.lockscope.url = strings.TrimSuffix(url[1], "/")
	w.cfg.Tell("lockscope serve on %s", w.lockscope.url)
	return nil
}

// memory names the memory of serve. Where alerts are proved, serve cannot load it until the world recovers.
func (w *World) memory() (path string, err error) {
	path = filepath.Join(w.dir, "state.json")
	if w.lockscope.url != "" || w.cfg.Minute == 0 {
		return path, nil
	}
	w.recovers = append(w.recovers, func() { _ = os.Remove(path) })
	return w.write("state.json", []byte(`{"half`))
}

// StopLockscope stops it as an operator does.
func (w *World) StopLockscope() error {
	w.all = slices.DeleteFunc(w.all, func(p *process.Process) bool { return p == w.lockscope.Process })
	return w.lockscope.Stop()
}

// find returns the first of these binaries that is installed.
func find(pkg string, names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf(`no %s: install with "apt-get install %s" (Debian/Ubuntu), or "make deps"`, names[0], pkg)
}

// alertmanagerEnv names the binary if it is not in the PATH, also for other tests.
const alertmanagerEnv = "LOCKSCOPE_ALERTMANAGER"

// toNobody receives alerts and sends nothing: the API shows what has arrived.
const toNobody = `
route:
  receiver: nobody
receivers:
- name: nobody
`

func (w *World) startAlertmanager(ctx context.Context) error {
	names := []string{"prometheus-alertmanager", "alertmanager"}
	if name := os.Getenv(alertmanagerEnv); name != "" {
		names = []string{name}
	}
	bin, err := find("prometheus-alertmanager", names...)
	if err != nil {
		return err
	}
	file, err := w.write("alertmanager.yml", []byte(toNobody))
	if err != nil {
		return err
	}
	w.manager.Process, err = w.run("alertmanager", bin, "--config.file="+file, "--storage.path="+
		filepath.Join(w.dir, "alerts"),
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=")
	if err != nil {
		return err
	}
	w.manager.url, err = w.listening(ctx, w.manager)
	w.cfg.Tell("Alertmanager on %s", w.manager.url)
	return err
}

// listening matches the line in which Prometheus and Alertmanager log their port.
func (w *World) listening(ctx context.Context, p program) (url string, err error) {
	address, err := p.AwaitAddress(ctx)
	if err != nil {
		return "", err
	}
	url = "http://" + address
	return url, awaitReady(ctx, p, url)
}

var errNoNodes = errors.New("the demo did not print its redis-servers")

// write makes a file in the world's directory.
func (w *World) write(name string, text []byte) (path string, err error) {
	path = filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o600)
}
