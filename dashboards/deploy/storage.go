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

// Storage is what the rules ask of Prometheus for every resource of a job. What they record of nodes and
// processes is little beside it.
type Storage struct {
	Period    time.Duration // the longest window that is added up
	Retention time.Duration // of recorded series, at least
	Series    int           // that are recorded
	PerDay    int           // samples of these
}

// BytesPerSample is the upper of the two numbers in Prometheus's manual, under "Storage": one to two bytes.
const BytesPerSample = 2

// reserve is for blocks: Prometheus removes them whole, and the oldest may be three days long.
const reserve = 5 * 24 * time.Hour

// valuesOf counts the values of labels that a resource has several series of: the bounds of waits with
// that of +Inf, and the reasons for a loss, of which a resource has met all at worst.
var valuesOf = map[string]int{"le": len(WaitBuckets()) + 1, "reason": 4}

// Needs reads what is needed off the rules in a folder named rules.
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

// seriesOf counts those of one resource of a job, by the labels that begin the name.
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

// longest is the longest window.
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
