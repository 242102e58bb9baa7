package check

import (
	"context"
	"strings"
	"time"
)

// orZero turns no result into 0 where nodes are looked at, and so hides a query that never has a result. Sets of nodes
// without a quorum are not made.
const orZero = " or 0 * count(max by "

// AskDefaulted runs every query of such an ending without it. It must have a result at some time.
func (c *Checker) AskDefaulted(ctx context.Context, age time.Duration) (problems []Problem) {
	for _, b := range c.Boards {
		only := b
		only.Panels, only.Marks = nil, nil
		for _, p := range b.Panels {
			for _, q := range p.Queries {
				if expr, _, found := strings.Cut(q.Expr, orZero); found {
					q.Expr = expr
					only.Panels = append(only.Panels, Panel{Title: p.Title, Queries: []Query{q}})
				}
			}
		}
		asked := &asking{Checker: c, board: only, now: time.Now(), age: age}
		asked.all(ctx)
		problems = append(problems, asked.problems...)
	}
	return problems
}

// markStep is the step of the shipped annotations. A longer one would miss marks that last for two minutes.
const markStep = time.Minute

// marks runs the queries of the annotations in all charts: alerts.
func (a *asking) marks(ctx context.Context) {
	to := a.now.Truncate(markStep)
	marked := window{from: to.Add(-a.board.Span), to: to, step: markStep}
	for _, mark := range a.board.Marks {
		expr, err := replace(mark, a.filled)
		if err != nil {
			a.problem("annotation", mark, "", err.Error())
			continue
		}
		answer, err := a.prometheus.course(ctx, expr, marked)
		switch {
		case err != nil:
			a.problem("annotation", expr, err.Error(), "fails")
		case len(answer) == 0:
			a.problem("annotation", expr, "", errEmpty.Error())
		}
	}
}

// exemplars asks for the dots that lead to traces. A panel that shows some asks for those of all its queries, but only
// histograms have any.
func (a *asking) exemplars(ctx context.Context) {
	for _, p := range a.board.Panels {
		asked, found := "", 0
		for _, q := range p.Queries {
			if !q.Exemplar {
				continue
			}
			expr, err := replace(q.Expr, a.filled)
			if err != nil {
				continue // the query fails on its own
			}
			n, err := a.prometheus.exemplars(ctx, expr, window{from: a.window.from, to: a.now})
			if err != nil {
				a.problem(p.Title+" / exemplars", expr, err.Error(), "fails")
			}
			asked, found = expr, found+n
		}
		if asked != "" && found == 0 {
			a.problem(p.Title+" / exemplars", asked, "", errEmpty.Error())
		}
	}
}
