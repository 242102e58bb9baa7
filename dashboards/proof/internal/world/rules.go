package world

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

const (
	// shortFor replaces every longer "for" of an alert, and shortInterval every longer evaluation interval: a proof has
	// minutes, not hours.
	shortFor      = model.Duration(10 * time.Second)
	shortInterval = model.Duration(5 * time.Second)

	// countedGroup records the rates that other rules add up: increase3d is the sum of one sample a minute, times
	// sixty. Its interval stays, because otherwise the numbers would be wrong.
	countedGroup = "distributed-lock-sli"
)

// ruleFile is the part of a rule file that is changed here.
type ruleFile struct {
	Groups []struct {
		Name     string    `yaml:"name"`
		Interval yaml.Node `yaml:"interval"`
		Rules    []struct {
			For yaml.Node `yaml:"for"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

// writeRules copies the rules with short waits, and returns the differences.
func (w *World) writeRules() error {
	names, err := fs.Glob(w.cfg.Rules, "rules/*.yaml")
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no rules to load: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(w.cfg.Rules, name)
		if err != nil {
			return err
		}
		loaded, changes, err := w.hastened(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := w.write("rules/"+path.Base(name), loaded); err != nil {
			return err
		}
		w.cfg.Tell("%s, loaded from a copy that differs in: %s", path.Base(name), changes)
	}
	return nil
}

// hastened returns rules that do not need hours: either all their times are shorter, or only their waits.
func (w *World) hastened(text []byte) (hastened []byte, changes string, err error) {
	if w.cfg.Minute > 0 {
		hastened, err = scale(text, w.cfg.Minute)
		return hastened, fmt.Sprintf("a minute lasts %v, and every other time in proportion", w.cfg.Minute), err
	}
	return hasten(text)
}

// hasten shortens waits in place, so that nothing else can differ. It returns the differences in words.
func hasten(text []byte) (hastened []byte, changes string, err error) {
	var f ruleFile
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, "", err
	}
	lines := strings.Split(string(text), "\n")
	var told, fors []string
	for _, g := range f.Groups {
		if g.Name != countedGroup {
			was, err := shorten(lines, g.Interval, shortInterval)
			if err != nil {
				return nil, "", err
			}
			told = append(told, words(was != "", "%s every %s, not %s", g.Name, shortInterval, was)...)
		}
		for _, rule := range g.Rules {
			was, err := shorten(lines, rule.For, shortFor)
			if err != nil {
				return nil, "", err
			}
			fors = append(fors, words(was != "" && !slices.Contains(fors, was), "%s", was)...)
		}
	}
	told = append(told, words(len(fors) > 0, "for %s, not %s", shortFor, strings.Join(fors, ", "))...)
	return []byte(strings.Join(lines, "\n")), strings.Join(append(told, "all else is as shipped"), "; "), nil
}

// words returns nothing if there is nothing to report.
func words(say bool, format string, args ...any) []string {
	if !say {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}

// shorten returns the previous value if it was above the limit.
func shorten(lines []string, value yaml.Node, limit model.Duration) (was string, err error) {
	if value.IsZero() {
		return "", nil
	}
	d, err := model.ParseDuration(value.Value)
	if err != nil {
		return "", fmt.Errorf("line %d: %w", value.Line, err)
	}
	if d <= limit {
		return "", nil
	}
	line, start := &lines[value.Line-1], value.Column-1
	if !strings.HasPrefix((*line)[start:], value.Value) {
		return "", fmt.Errorf("line %d: %q does not begin at column %d", value.Line, value.Value, value.Column)
	}
	*line = (*line)[:start] + limit.String() + (*line)[start+len(value.Value):]
	return value.Value, nil
}
