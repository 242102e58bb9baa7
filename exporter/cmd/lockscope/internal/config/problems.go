package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Problem is one thing wrong with a file.
type Problem struct {
	Line int    `json:"line,omitempty"` // 0: of the file as a whole
	Path string `json:"path,omitempty"` // groups[1].redis[0]
	Text string `json:"text"`           // what is wrong and what to do; no value
}

// Problems lists everything wrong with a file, in the order of its lines.
type Problems struct {
	File string
	All  []Problem
}

// Error has a line for each.
func (p *Problems) Error() string {
	lines := make([]string, len(p.All))
	for i, one := range p.All {
		where := p.File
		if one.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, one.Line)
		}
		if one.Path != "" {
			where += ": " + one.Path
		}
		lines[i] = where + ": " + one.Text
	}
	return strings.Join(lines, "\n")
}

type problems struct {
	file  string
	lines map[string]int
	all   []Problem
}

func (p *problems) at(line int, path, format string, args ...any) {
	p.all = append(p.all, Problem{line, path, fmt.Sprintf(format, args...)})
}

// add finds the line of a path, or of what it is in.
func (p *problems) add(path, format string, args ...any) {
	line := 0
	for at := path; line == 0 && at != ""; at = at[:max(0, strings.LastIndexAny(at, ".["))] {
		line = p.lines[at]
	}
	p.at(line, path, format, args...)
}

func (p *problems) err() error {
	if len(p.all) == 0 {
		return nil
	}
	slices.SortStableFunc(p.all, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return &Problems{File: p.file, All: p.all}
}

func checkLimit(p *problems, path string, d Duration) {
	if _, given := p.lines[path]; given && time.Duration(d) < time.Millisecond {
		p.add(path, "too short: use at least 1ms")
	}
}
