package explore

import (
	"fmt"
	"reflect"
	"strings"
)

// Case is one exploration: a model with its bounds and rules, and what is to be found.
type Case struct {
	Model  string   // its name in lower case: votes, fences, guard
	Name   string   // the rule that is off, or what is special
	Bounds string   // the fields of the model that are set
	After  []string // the steps with which it begins
	Rules  []string // that its model can switch off

	explore func(limit int) (Result, error)
}

// Explore explores it.
func (c Case) Explore(limit int) (Result, error) { return c.explore(limit) }

// Cases are the explorations of one model.
type Cases struct {
	Quick, Slow []Case // with all rules on, so that nothing is found: in seconds, and in minutes
	Broken      []Case // with one rule off, so that a violation is found
}

// NewCase is the exploration of a model, after some steps if any are named.
func NewCase[S comparable](name string, m Model[S], after ...string) Case {
	c := Case{Name: name, After: after}
	c.Model, c.Bounds, c.Rules = describe(m)
	c.explore = func(limit int) (Result, error) {
		begins, err := After(m, after...)
		if err != nil {
			return Result{}, err
		}
		return Explore(begins, limit)
	}
	return c
}

// describe names a model, its bounds, and its rules. Rules that are off are no bounds.
func describe(m any) (model, bounds string, rules []string) {
	v := reflect.ValueOf(m).Elem()
	var set []string
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); {
		case name == "Rules":
			for _, rule := range reflect.VisibleFields(f.Type()) {
				rules = append(rules, rule.Name)
			}
		case f.IsZero() || f.Kind() == reflect.Struct || !v.Type().Field(i).IsExported():
		case f.Kind() == reflect.Bool:
			set = append(set, name)
		default:
			set = append(set, fmt.Sprint(name, " ", f.Interface()))
		}
	}
	return strings.ToLower(v.Type().Name()), strings.Join(set, ", "), rules
}
