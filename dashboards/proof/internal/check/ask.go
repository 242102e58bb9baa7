package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Problem is a failed check.
type Problem struct {
	Where  string // dashboard / panel / query, or rule
	Query  string // as sent
	Answer string
	What   string
}

// String returns all fields in one line.
func (p Problem) String() string {
	text := p.Where + ": " + p.What
	if p.Query != "" {
		text += "\n    query:  " + p.Query
	}
	if p.Answer != "" {
		text += "\n    answer: " + p.Answer
	}
	return text
}

// Tally summarises the answers to a dashboard's queries in one unit.
type Tally struct {
	Dashboard, Unit         string
	Queries, Series, Values int
	Min, Max                float64
}

// Checker queries one Prometheus.
type Checker struct {
	Boards []Board
	// Choice has a value for each variable that cannot select all values.
	Choice map[string]string
	// Quiet are recording rules without results while all is well.
	Quiet []string

	prometheus, alertmanager *client
}

// New returns a Checker for the servers at these addresses.
func New(boards []Board, choice map[string]string, prometheus, alertmanager string) *Checker {
	return &Checker{Boards: boards, Choice: choice, prometheus: newClient(prometheus),
		alertmanager: newClient(alertmanager)}
}

// AskPanels runs every query of every dashboard as Grafana would now. The world is age old, and no wait or age can be
// longer. AskPanels stops early only if ctx ends.
func (c *Checker) AskPanels(ctx context.Context, age time.Duration) (tallies []Tally, problems []Problem) {
	for _, b := range c.Boards {
		asked := &asking{Checker: c, board: b, now: time.Now(), age: age}
		asked.all(ctx)
		tallies, problems = append(tallies, asked.tallies...), append(problems, asked.problems...)
	}
	return tallies, problems
}

// asking is the check of one dashboard.
type asking struct {
	*Checker
	board  Board
	now    time.Time
	age    time.Duration
	window window
	filled map[string]string

	tallies  []Tally
	problems []Problem
}

func (a *asking) problem(where, query, answer, what string) {
	a.problems = append(a.problems, Problem{Where: a.board.UID + " / " + where, Query: query, Answer: answer,
		What: what})
}

func (a *asking) all(ctx context.Context) {
	a.window = newWindow(a.board.Span, a.now)
	var err error
	if a.filled, err = fill(ctx, a.prometheus, a.board, a.window, a.Choice); err != nil {
		a.problem("variables", "", "", err.Error())
		return
	}
	for _, p := range a.board.Panels {
		if len(p.Queries) == 0 {
			a.problem(p.Title, "", "", "asks nothing")
		}
		a.panel(ctx, p)
	}
	a.marks(ctx)
	a.exemplars(ctx)
}

var errEmpty = errors.New("is empty")

// panel requires a number from each query. Only a tile that shows one of its queries at a time has none of others.
func (a *asking) panel(ctx context.Context, p Panel) {
	found := false
	for _, q := range p.Queries {
		found = a.query(ctx, p.Title, q, p.Either) || found
	}
	if p.Either && !found {
		a.problem(p.Title, p.Queries[0].Expr, "", errEmpty.Error())
	}
}

// query reports whether the answer has numbers, and that they are missing unless they may be.
func (a *asking) query(ctx context.Context, title string, q Query, optional bool) (found bool) {
	where := title + " / " + q.Ref
	if q.Title != title {
		where += " " + q.Title
	}
	expr, err := replace(q.Expr, a.filled)
	if err != nil {
		a.problem(where, q.Expr, "", err.Error())
		return true
	}
	answer, err := a.send(ctx, q, expr)
	if err != nil {
		a.problem(where, expr, err.Error(), "fails")
		return true
	}
	want, err := plausible(q.Title, q.Unit, a.age)
	if err != nil {
		a.problem(where, expr, "", err.Error())
		return true
	}
	seen := a.judge(answer, want)
	if seen.strange != "" {
		a.problem(where, expr, seen.strange,
			fmt.Sprintf("has a value that is not plausible: %v to %v %s, and of now, are", want.low, want.high, q.Unit))
	}
	switch {
	case seen.values > 0:
		a.count(q.Unit, len(answer), seen)
	case seen.strange == "" && !optional:
		a.problem(where, expr, show(answer), errEmpty.Error())
	}
	return seen.values > 0 || seen.strange != ""
}

func (a *asking) send(ctx context.Context, q Query, expr string) ([]series, error) {
	if q.Instant {
		return a.prometheus.instant(ctx, expr, a.now)
	}
	return a.prometheus.course(ctx, expr, a.window)
}

// seen summarises an answer.
type seen struct {
	values   int // finite
	min, max float64
	strange  string // the first implausible value
}

// judge ignores NaN, the quantile of no events: Grafana draws a gap.
func (a *asking) judge(answer []series, want bounds) seen {
	s := seen{min: math.Inf(1), max: math.Inf(-1)}
	for _, line := range answer {
		for _, v := range line.samples {
			if math.IsNaN(v.value) {
				continue
			}
			if s.strange == "" && (!want.contain(v.value) || !a.timely(v.at)) {
				s.strange = fmt.Sprintf("%v = %v at %v", line.labels, v.value, v.at)
			}
			if !math.IsInf(v.value, 0) {
				s.values++
				s.min, s.max = min(s.min, v.value), max(s.max, v.value)
			}
		}
	}
	return s
}

// timely reports whether a sample is within the requested time and the age of the world.
func (a *asking) timely(at time.Time) bool {
	return !at.After(a.now.Add(time.Second)) && at.After(a.now.Add(-a.age-slack))
}

func (a *asking) count(unit string, lines int, s seen) {
	for i := range a.tallies {
		if t := &a.tallies[i]; t.Unit == unit {
			t.Queries, t.Series, t.Values = t.Queries+1, t.Series+lines, t.Values+s.values
			t.Min, t.Max = min(t.Min, s.min), max(t.Max, s.max)
			return
		}
	}
	a.tallies = append(a.tallies, Tally{a.board.UID, unit, 1, lines, s.values, s.min, s.max})
}

const shownLines = 3

// show returns the beginning of an answer.
func show(answer []series) string {
	if len(answer) == 0 {
		return "no series"
	}
	text := fmt.Sprintf("%d series without a number:", len(answer))
	for _, line := range answer[:min(shownLines, len(answer))] {
		text += fmt.Sprintf(" %v", line.labels)
	}
	return text
}
