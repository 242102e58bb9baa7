package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	lockscope "github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/deploy"
)

// storage is what the rules need in Prometheus per resource of a job. The series of nodes and processes are few in
// comparison.
type storage struct {
	period time.Duration // the longest window of the rules
	series int           // that are recorded
	perDay int           // samples of these
}

// bytesPerSample is the upper of the two numbers in Prometheus's manual, under "Storage": one to two bytes.
const bytesPerSample = 2

// reserve is for whole blocks: Prometheus removes only whole blocks, and the oldest may cover three days.
const reserve = 5 * 24 * time.Hour

// valuesOf counts the values of the labels by which a resource has several series: the bounds of waits
// with +Inf, and the reasons for a loss, at worst all of them.
var valuesOf = map[string]int{"le": len(deploy.WaitBuckets()) + 1, "reason": 4}

// TestStorage has the README and the command state what the rules come to.
func TestStorage(t *testing.T) {
	var s storage
	paths, err := fs.Glob(lockscope.FS(), "rules/*.yaml")
	must(t, err)
	for _, name := range paths {
		text, err := fs.ReadFile(lockscope.FS(), name)
		must(t, err)
		must(t, s.add(text))
	}
	if s.period != deploy.Period || s.period+reserve != deploy.Retention {
		t.Errorf("the longest window is %v", s.period)
	}
	text, err := fs.ReadFile(lockscope.FS(), "README.md")
	must(t, err)
	readme := strings.Join(strings.Fields(string(text)), " ")
	days := s.period.Hours() / 24
	perMonth := float64(s.perDay) * days * 1000
	for _, want := range []string{
		fmt.Sprintf("`--storage.tsdb.retention.time=%.0fd`", deploy.Retention.Hours()/24),
		fmt.Sprintf("record %d,000 series", s.series),
		fmt.Sprintf("%d,000 samples a minute", s.perDay/(24*60)),
		fmt.Sprintf("%.1f billion in %.0f days", perMonth/1e9, days),
		fmt.Sprintf("%.1f GB at %d bytes a sample", perMonth*bytesPerSample/1e9, bytesPerSample),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md does not say: %s", want)
		}
	}
}

func TestSeriesOf(t *testing.T) {
	for record, want := range map[string]int{
		"job_resource:a:b": 1, "job_resource_le:a:b": 9, "job_resource_reason:a:b": 4,
		"job_lock_node:a:b": 0, "resource:a:b": 0, "": 0,
	} {
		if have := seriesOf(record); have != want {
			t.Errorf("%s: %d, want %d", record, have, want)
		}
	}
}

// window matches the range of a selector or of a subquery.
var window = regexp.MustCompile(`\[(\w+)[:\]]`)

func (s *storage) add(text []byte) error {
	var file struct {
		Groups []struct {
			Interval model.Duration
			Rules    []struct{ Record, Expr string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return err
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			for _, m := range window.FindAllStringSubmatch(r.Expr, -1) {
				d, err := model.ParseDuration(m[1])
				if err != nil {
					return err
				}
				s.period = max(s.period, time.Duration(d))
			}
			if n := seriesOf(r.Record); n > 0 {
				s.series += n
				s.perDay += n * int(24*time.Hour/time.Duration(g.Interval))
			}
		}
	}
	return nil
}

// seriesOf counts the series of one resource of a job, from the labels at the start of the name.
func seriesOf(record string) int {
	level, _, _ := strings.Cut(record, ":")
	names := strings.Split(level, "_")
	if !slices.Contains(names, "job") || !slices.Contains(names, "resource") {
		return 0
	}
	n := 1
	for _, name := range names {
		n *= max(valuesOf[name], 1)
	}
	return n
}
