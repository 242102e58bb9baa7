package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// Alertmanager posts findings as alerts to one Alertmanager or to all members of a
// cluster of them. It may be used concurrently.
//
// Each report sends every finding again, for Alertmanager forgets an alert that it
// does not hear of. How long it remembers is up to the sender: an alert ends
// [HoldIntervals] intervals after the last report that had it, so the interval of
// the sweeps must be told with [WithResend] unless it is a minute or less.
// Alertmanager wants to hear of an alert every 30 s to 3 min; a cron job that runs
// once an hour sets WithResend(time.Hour), and its alerts end up to four hours late
// if they are not reported as resolved.
//
// A finding that a report calls resolved ends its alert at once. Should that
// report not arrive, the alert ends as one that is no longer heard of.
type Alertmanager struct {
	config *config
	to     []*endpoint
	sender *sender
}

// NewAlertmanager makes a notifier for the Alertmanagers at the given base URLs
// (http://host:9093, with a path prefix if it has one). All of them are told, as
// their deduplication expects. A URL may hold credentials for basic
// authentication. Nothing is sent before Notify; no URL, a bad or a repeated one and
// a bad option are errors that match [ErrInvalidURL] or [ErrInvalidOption].
func NewAlertmanager(urls []string, opts ...Option) (*Alertmanager, error) {
	c, err := newConfig(alertmanager, opts)
	if err != nil {
		return nil, err
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("%w: none given", ErrInvalidURL)
	}
	a := &Alertmanager{config: c, sender: newSender(c)}
	known := map[string]bool{}
	for i, raw := range urls {
		to, err := newEndpoint(raw, alertsPath, c)
		if err != nil {
			return nil, fmt.Errorf("URL %d: %w", i+1, err)
		}
		if known[to.url] {
			return nil, fmt.Errorf("URL %d: %w: given twice", i+1, ErrInvalidURL)
		}
		known[to.url] = true
		a.to = append(a.to, to)
	}
	return a, nil
}

// Notify posts what r confirms and what it calls resolved, and returns when every
// Alertmanager has answered or its retries are spent. A standby report is not sent, nor
// is one with nothing to tell. The error is nil if each alert was taken by one
// Alertmanager at least; else it joins a *[SendError] of each that was asked.
// Sending the same report again is harmless. When ctx ends, Notify returns soon,
// with the context's error and the last attempts'.
func (a *Alertmanager) Notify(ctx context.Context, r scanner.Report) error {
	if r.Standby {
		return nil
	}
	bodies, err := encode(a.config.alerts(r, time.Now()))
	if err != nil {
		return fmt.Errorf("notify: encode alerts: %w", err)
	}
	if len(bodies) == 0 {
		return nil
	}
	return a.judge(ctx, a.postAll(ctx, bodies))
}

// alerts makes one alert of each finding. A key that leaked again after it was
// healed is both resolved and found; it lasts.
func (c *config) alerts(r scanner.Report, now time.Time) []alert {
	type identity struct {
		class     scanner.Class
		node, key string
	}
	lasting := make(map[identity]bool, len(r.Findings))
	all := make([]alert, 0, len(r.Findings)+len(r.Resolved))
	for _, f := range r.Findings {
		lasting[identity{f.Class, f.Node, f.Key}] = true
		all = append(all, c.alertFor(f, now, now.Add(HoldIntervals*c.resend)))
	}
	for _, f := range r.Resolved {
		if !lasting[identity{f.Class, f.Node, f.Key}] {
			all = append(all, c.alertFor(f, now, now))
		}
	}
	return all
}

// postAll returns what became of each body at each endpoint: errors[endpoint][body].
func (a *Alertmanager) postAll(ctx context.Context, bodies [][]byte) [][]error {
	errs := make([][]error, len(a.to))
	var wg sync.WaitGroup
	for i, to := range a.to {
		wg.Go(func() { errs[i] = a.postTo(ctx, to, bodies) })
	}
	wg.Wait()
	return errs
}

// postTo gives an endpoint up once it does not answer, lest each further body costs
// all the timeouts again; one that refuses a body may still take the next.
func (a *Alertmanager) postTo(ctx context.Context, to *endpoint, bodies [][]byte) []error {
	errs := make([]error, len(bodies))
	for i, body := range bodies {
		err := a.sender.post(ctx, to, body)
		errs[i] = err
		if err != nil && retryable(err) {
			for j := range errs[i:] {
				errs[i+j] = err
			}
			break
		}
	}
	return errs
}

// judge fails if there is a body that no endpoint took, and tells the logger of
// endpoints that failed without doing harm.
func (a *Alertmanager) judge(ctx context.Context, errs [][]error) error {
	lost := false
	for body := range errs[0] {
		taken := false
		for i := range errs {
			taken = taken || errs[i][body] == nil
		}
		lost = lost || !taken
	}
	var failed []error
	for i := range errs {
		err := firstError(errs[i])
		if err == nil {
			continue
		}
		failed = append(failed, err)
		if !lost {
			a.config.logger.WarnContext(ctx, "one Alertmanager did not take the alerts, another did",
				"endpoint", a.to[i].name, "error", err.Error())
		}
	}
	if !lost {
		return nil
	}
	return errors.Join(failed...)
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
