//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/proof/internal/check"
	"github.com/lockscope/lockscope/dashboards/proof/internal/world"
	"github.com/lockscope/lockscope/lock/locktest/process"
)

// TestMain keeps go-redis from logging the planted faults, as main does.
func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m)
}

// TestProof proves the shipped dashboards and rules, and then, on the same Prometheus, that wrong ones fail.
func TestProof(t *testing.T) {
	temp := emptyTemp(t)
	p := newProof(t.Output())
	proved := false
	p.proved = func(ctx context.Context, w *world.World, _ *check.Checker) {
		proved = true
		t.Run("finds what is wrong", func(t *testing.T) { wrongBoards(t, ctx, w) })
		t.Run("notices a dead Prometheus", func(t *testing.T) { deadPrometheus(t, ctx, p, w) })
	}
	if err := p.run(t.Context(), options{length: defaultLength}); err != nil {
		t.Error(err)
	}
	if !proved {
		t.Error("not proved")
	}
	wantEmpty(t, temp)
}

// wrongBoards breaks one query of each dashboard, in one way at a time.
func wrongBoards(t *testing.T, ctx context.Context, w *world.World) {
	for name, wrong := range map[string]struct {
		change func(*check.Query)
		what   string
	}{
		"misspelt metric": {func(q *check.Query) {
			q.Expr = strings.ReplaceAll(q.Expr, "distributed_lock_",
				"distributed_lok_")
		}, "is empty"},
		"no such value": {func(q *check.Query) { q.Expr = strings.ReplaceAll(q.Expr, "$job", "nobody") },
			"is empty"},
		"no PromQL":    {func(q *check.Query) { q.Expr += " by" }, "fails"},
		"below zero":   {func(q *check.Query) { q.Expr = "-1 - (" + q.Expr + ")" }, "not plausible"},
		"another unit": {func(q *check.Query) { q.Expr = "1e7 + (" + q.Expr + ")" }, "not plausible"},
		"unknown variable": {func(q *check.Query) { q.Expr = strings.Replace(q.Expr, "$job", "$jobs", 1) },
			"is not a variable"},
	} {
		boards, err := check.Load(dashboards.FS())
		if err != nil {
			t.Fatal(err)
		}
		for i := range boards {
			only := steady(t, boards[i])
			wrong.change(&only.Queries[0])
			boards[i].Panels, boards[i].Marks = []check.Panel{only}, nil
		}
		_, problems := check.New(boards, map[string]string{"resource": world.Resource}, w.Prometheus(),
			w.Alertmanager()).AskPanels(ctx, w.Age())
		if len(problems) != len(boards) {
			t.Errorf("%s: %d problems, want %d: %v", name, len(problems), len(boards), problems)
			continue
		}
		for i, p := range problems {
			where := boards[i].UID + " / " + boards[i].Panels[0].Title + " / A"
			if !strings.HasPrefix(p.Where, where) || !strings.Contains(p.What, wrong.what) || p.Query == "" {
				t.Errorf("%s: reported is %v; want %s: %s", name, p, where, wrong.what)
			}
		}
	}
}

// steady returns the first query of a metric that has a value at every moment, as a panel of its own.
func steady(t *testing.T, b check.Board) check.Panel {
	t.Helper()
	for _, p := range b.Panels {
		if !p.Either && strings.Contains(p.Queries[0].Expr, "distributed_lock_") {
			return check.Panel{Title: p.Title, Queries: p.Queries[:1]}
		}
	}
	t.Fatalf("%s: every panel may be empty", b.UID)
	return check.Panel{}
}

func deadPrometheus(t *testing.T, ctx context.Context, p *proof, w *world.World) {
	w.KillPrometheus()
	_, err := p.poll(ctx, w, panelsLimit, func() []check.Problem { return []check.Problem{{}} })
	if !errors.Is(err, process.ErrExited) || !strings.Contains(err.Error(), "prometheus has exited") {
		t.Errorf("error %v", err)
	}
}

// TestInterrupted interrupts a proof in the middle, as Ctrl-C does.
func TestInterrupted(t *testing.T) {
	temp := emptyTemp(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	p := newProof(t.Output())
	var hosts []string
	p.began = func(w *world.World) {
		for _, u := range w.URLs() {
			hosts = append(hosts, strings.TrimPrefix(u[1], "http://"))
		}
		hosts = append(hosts, w.Nodes()...)
		interrupt()
	}
	if err := p.run(ctx, options{length: defaultLength}); !errors.Is(err, context.Canceled) ||
		errors.Is(err, errNotProved) {
		t.Errorf("error %v", err)
	}
	if len(hosts) != 10 {
		t.Errorf("there were %q", hosts)
	}
	for _, host := range hosts {
		if conn, err := net.Dial("tcp", host); err == nil {
			conn.Close()
			t.Errorf("%s still answers", host)
		}
	}
	wantEmpty(t, temp)
}

// emptyTemp returns an empty directory, in which all files of a proof are.
func emptyTemp(t *testing.T) string {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("GOTMPDIR", t.TempDir()) // for go build, which leaves files of its own
	return temp
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in %s: %v, %v", dir, left, err)
	}
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-for 1s": 2, "-alerts -keep": 2, "-alerts -for 4m": 2,
		"-keep now": 2, "-loud": 2} {
		var out, errOut bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), &out, &errOut); status != want {
			t.Errorf("%s: exit status %d, want %d: %s%s", args, status, want, &out, &errOut)
		}
	}
}
