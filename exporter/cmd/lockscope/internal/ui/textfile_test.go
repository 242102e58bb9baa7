package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// series has metrics in many lines, all with the same value.
func series(value float64) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "m", Help: "h"}, []string{"n"})
	for i := range 1000 {
		g.WithLabelValues(fmt.Sprintf("%04d", i)).Set(value)
	}
	reg.MustRegister(g)
	return reg
}

// sendTo is Send of a command with --textfile.
func sendTo(path string, g prometheus.Gatherer) error {
	p := Publish{textfile: path}
	return errors.Join(p.Send(context.Background(), nil, func(prometheus.Labels) (prometheus.Gatherer, error) {
		return g, nil
	})...)
}

// TestReadersSeeOneWholeFile reads in a loop while the file is replaced again and again.
func TestReadersSeeOneWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lockscope.prom")
	must(t, sendTo(path, series(0)))
	whole := map[string]bool{}
	for value := range 2 {
		text, err := encodeMetrics(series(float64(value)))
		must(t, err)
		whole[string(text)] = true
	}
	written := make(chan error, 1)
	go func() {
		var errs []error
		for i := range 200 {
			errs = append(errs, sendTo(path, series(float64(i%2))))
		}
		written <- errors.Join(errs...)
	}()
	for reads := 0; ; reads++ {
		text, err := os.ReadFile(path)
		must(t, err)
		if !whole[string(text)] {
			t.Fatalf("read %d is %d bytes that nobody wrote, to %q", reads, len(text), text[max(0, len(text)-40):])
		}
		select {
		case err := <-written:
			must(t, err)
			if reads == 0 {
				t.Error("nobody read meanwhile")
			}
			return
		default:
		}
	}
}

// TestWhatIsLeftIsRemoved: files of processes that died, and no others.
func TestWhatIsLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lockscope.prom")
	left, fresh, other := ".lockscope.prom.123.tmp", ".lockscope.prom.456.tmp", ".lockscope.prom.mine.tmp"
	for _, name := range []string{left, fresh, other} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
	}
	for _, name := range []string{left, other} {
		must(t, os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-2*time.Hour)))
	}
	must(t, sendTo(path, series(1)))
	var names []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := strings.Join([]string{fresh, other, "lockscope.prom"}, " "); strings.Join(names, " ") != want {
		t.Errorf("there are %q, want %s", names, want)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != textfileMode {
		t.Errorf("mode %v: node_exporter may be another user", info.Mode())
	}
}

// TestAnErrorLeavesTheOldFile, and no other one.
func TestAnErrorLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lockscope.prom")
	must(t, sendTo(path, series(1)))
	before, err := os.ReadFile(path)
	must(t, err)
	failing := prometheus.NewRegistry()
	failing.MustRegister(broken{})
	if err := sendTo(path, failing); err == nil || !strings.Contains(err.Error(), "--textfile") {
		t.Errorf("%v", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if string(before) != string(after) {
		t.Error("the file was changed")
	}
	if sendTo(filepath.Join(path, "x"), series(1)) == nil {
		t.Error("a file below a file was written")
	}
}

// broken fails to collect.
type broken struct{}

var desc = prometheus.NewDesc("broken", "h", nil, nil)

func (broken) Describe(ch chan<- *prometheus.Desc) { ch <- desc }

func (broken) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(desc, errors.New("no"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
