package deploy

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// Storage is the storage that the rules need in Prometheus per resource of a job. The series of nodes and
// processes are few in comparison.
type Storage struct {
	Period    time.Duration // the longest window of the rules
	Retention time.Duration // minimum, of recorded series
	Series    int           // that are recorded
	PerDay    int           // samples of these
}

// BytesPerSample is the upper of the two numbers in Prometheus's manual, under "Storage": one to two bytes.
const BytesPerSample = 2

// reserve is for whole blocks: Prometheus removes only whole blocks, and the oldest may cover three days.
const reserve = 5 * 24 * time.Hour

// valuesOf counts the values of the labels by which a resource has several series: the bounds of waits
// with +Inf, and the reasons for a loss, at worst all of them.
var valuesOf = map[string]int{"le": len(WaitBuckets()) + 1, "reason": 4}

// Needs computes the storage from the rules in the folder rules.
func Needs(shipped fs.FS) (Storage, error) {
	var s Storage
	paths, err := fs.Glob(shipped, "rules/*.yaml")
	if err != nil {
		return s, err
	}
	for _, name := range paths {
		text, err := fs.ReadFile(shipped, name)
		if err != nil {
			return s, err
		}
		if err := s.add(text); err != nil {
			return s, &fs.PathError{Op: "read", Path: name, Err: err}
		}
	}
	s.Retention = s.Period + reserve
	return s, nil
}

func (s *Storage) add(text []byte) error {
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
			tree, err := parse(r.Expr)
			if err != nil {
				return err
			}
			s.Period = max(s.Period, longest(tree))
			if n := seriesOf(r.Record); n > 0 {
				s.Series += n
				s.PerDay += n * int(24*time.Hour/time.Duration(g.Interval))
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

// longest returns the longest window.
func longest(tree parser.Expr) (window time.Duration) {
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.MatrixSelector:
			window = max(window, n.Range)
		case *parser.SubqueryExpr:
			window = max(window, n.Range)
		}
		return nil
	})
	return window
}
