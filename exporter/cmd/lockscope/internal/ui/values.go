package ui

import (
	"slices"
	"strings"
	"time"
)

// List is a flag that may be repeated and may hold several values separated by
// commas. The first value given replaces the default.
type List struct {
	values []string
	kind   string
	given  bool
}

// NewList makes a List; kind names one value in the help.
func NewList(kind string, defaults ...string) *List { return &List{values: defaults, kind: kind} }

// Values returns what was given, in order and without empty elements.
func (l *List) Values() []string { return slices.Clone(l.values) }

// Given says whether the values are others than the defaults.
func (l *List) Given() bool { return l.given }

// Set implements pflag.Value. It takes anything; the code that uses the values
// checks them.
func (l *List) Set(text string) error {
	if !l.given {
		l.values, l.given = nil, true
	}
	for v := range strings.SplitSeq(text, ",") {
		if v = strings.TrimSpace(v); v != "" {
			l.values = append(l.values, v)
		}
	}
	return nil
}

// String implements pflag.Value.
func (l *List) String() string { return strings.Join(l.values, ",") }

// Type implements pflag.Value.
func (l *List) Type() string { return l.kind }

// Optional is a flag for a duration without a default, since no number says what happens without it. Its zero value is
// ready for use.
type Optional struct {
	Value time.Duration
	Given bool
}

// Set implements pflag.Value.
func (o *Optional) Set(text string) error {
	d, err := ParseDuration(text)
	if err == nil {
		o.Value, o.Given = d, true
	}
	return err
}

// String implements pflag.Value.
func (o *Optional) String() string {
	if !o.Given {
		return ""
	}
	return o.Value.String()
}

// Type implements pflag.Value.
func (o *Optional) Type() string { return "duration" }
