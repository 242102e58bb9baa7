package check

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Grafana's limits for a time range. A panel asks for at most one point a pixel, and at most one a scrape interval, by
// the interval that its data source states.
const (
	minStep   = 15 * time.Second
	maxPoints = 720
)

// window is the time range of a query.
type window struct {
	from, to time.Time
	step     time.Duration
}

func newWindow(span time.Duration, now time.Time) window {
	step := max(minStep, span/maxPoints)
	to := now.Truncate(step) // as Grafana does, so that lines stay in place
	return window{from: to.Add(-span), to: to, step: step}
}

func (w window) form() url.Values { return url.Values{"start": {unix(w.from)}, "end": {unix(w.to)}} }

// times are Grafana's own variables.
func (w window) times() map[string]string {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%ds", int(d.Seconds())) }
	return map[string]string{
		"__range": seconds(w.to.Sub(w.from)), "__interval": seconds(w.step),
		"__rate_interval": seconds(max(w.step+minStep, 4*minStep)),
	}
}

// Errors of variables.
var (
	errNoValues = errors.New("has no values")
	errUnfilled = errors.New("is not a variable that Grafana would fill in")
)

// anyOrNone matches series that lack the label, too.
const anyOrNone = ".*"

// fill reads the values of every variable. It selects all of them if possible, otherwise those of choice, which must be
// among them.
func fill(ctx context.Context, c *client, b Board, w window, choice map[string]string) (map[string]string, error) {
	chosen := w.times()
	for _, v := range b.Variables {
		selector, err := replace(v.Selector, chosen)
		if err != nil {
			return nil, fmt.Errorf("%s: variable %s: %w", b.UID, v.Name, err)
		}
		// Prometheus stores the end of its range, not the last step.
		found, err := c.values(ctx, selector, v.Label, window{from: w.from, to: w.to.Add(w.step)})
		if err != nil {
			return nil, fmt.Errorf("%s: variable %s: %w", b.UID, v.Name, err)
		}
		// The value for all clusters also stands for none: series may lack the label.
		if len(found) == 0 && v.All != anyOrNone || v.All == "" && !slices.Contains(found, choice[v.Name]) {
			return nil, fmt.Errorf("%s: variable %s: label_values(%s, %s) %w to choose: %q", b.UID, v.Name, selector,
				v.Label, errNoValues, found)
		}
		chosen[v.Name] = v.All
		if v.All == "" {
			chosen[v.Name] = escape(choice[v.Name])
		}
	}
	return chosen, nil
}

// escape makes a value a pattern in a quoted string, as Grafana does for variables with several values.
func escape(value string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(value), `\`, `\\`)
}

var variable = regexp.MustCompile(`\$(\w+)`)

// replace fills in variables.
func replace(expr string, chosen map[string]string) (string, error) {
	var unknown []error
	filled := variable.ReplaceAllStringFunc(expr, func(name string) string {
		value, ok := chosen[name[1:]]
		if !ok {
			unknown = append(unknown, fmt.Errorf("%s %w", name, errUnfilled))
		}
		return value
	})
	return filled, errors.Join(unknown...)
}
