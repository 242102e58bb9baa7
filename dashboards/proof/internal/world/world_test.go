package world

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHasten compares the shipped rules with the loaded ones, line by line.
func TestHasten(t *testing.T) {
	names, err := fs.Glob(dashboards.FS(), "rules/*.yaml")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	shortened, counted := 0, false
	for _, name := range names {
		text, err := fs.ReadFile(dashboards.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := hasten(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		before, after := strings.Split(string(text), "\n"), strings.Split(string(got), "\n")
		if len(before) != len(after) {
			t.Fatalf("%s: %d lines became %d", name, len(before), len(after))
		}
		for i, line := range after {
			if line == before[i] {
				continue
			}
			shortened++
			key, _, _ := strings.Cut(before[i], ":")
			if word := strings.TrimSpace(key); word != "for" && word != "interval" ||
				!strings.HasPrefix(line, key+": ") {
				t.Errorf("%s:%d: %q became %q", name, i+1, before[i], line)
			}
		}
		counted = counted || wantShort(t, name, got)
	}
	if shortened < 20 || !counted {
		t.Errorf("%d lines are shorter; the group %s is there: %v", shortened, countedGroup, counted)
	}
}

// wantShort reports whether the group exists whose interval must stay.
func wantShort(t *testing.T, name string, text []byte) (counted bool) {
	t.Helper()
	var f struct {
		Groups []struct {
			Name     string
			Interval model.Duration
			Rules    []struct{ For model.Duration }
		}
	}
	if err := yaml.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Groups {
		if g.Name == countedGroup {
			counted = g.Interval == model.Duration(time.Minute)
		} else if g.Interval > shortInterval {
			t.Errorf("%s: %s is evaluated every %s", name, g.Name, g.Interval)
		}
		for _, r := range g.Rules {
			if r.For > shortFor {
				t.Errorf("%s: %s has a rule for %s", name, g.Name, r.For)
			}
		}
	}
	return counted
}

func TestHastenRefusesWhatItCannotRead(t *testing.T) {
	for _, text := range []string{"groups: 1", "groups: [{name: a, interval: soon}]",
		`groups: [{name: a, interval: "1m"}]`} {
		if got, _, err := hasten([]byte(text)); err == nil {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestNodesOfDemo(t *testing.T) {
	nodes, err := parseNodes("1 2 3 4 5", "11 12 13 14 15")
	if err != nil || len(nodes) != 5 || nodes[4] != (node{"127.0.0.1:5", 15}) {
		t.Errorf("%v, %v", nodes, err)
	}
	for _, pids := range []string{"", "11 12 13 14", "11 12 13 14 1", "11 12 13 14 -15", "11 12 13 14 x"} {
		if _, err := parseNodes("1 2 3 4 5", pids); !errors.Is(err, errNoNodes) {
			t.Errorf("pids %q: %v", pids, err)
		}
	}
}

func TestMissingBinary(t *testing.T) {
	if _, err := find("prometheus", "no-such-prometheus"); err == nil ||
		!strings.Contains(err.Error(), "apt-get install prometheus") {
		t.Error(err)
	}
}
