package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// Alertmanager posts findings as alerts to one Alertmanager or to all members of a cluster. It is safe for concurrent
// use.
//
// Each report sends every finding again, because Alertmanager forgets an alert that is not repeated. An alert ends
// [HoldIntervals] intervals after the last report that had it. Set the interval between sweeps with [WithResend]
// unless it is a minute or less. Alertmanager expects to hear of an alert every 30 s to 3 min. A cron job that runs
// once an hour sets WithResend(time.Hour), and its alerts end up to four hours late if no report resolves them.
//
// A finding that a report resolves ends its alert at once. If that report does not arrive, the alert ends as one that
// is no longer repeated.
type Alertmanager struct {
	config *config
	to     []*endpoint
	sender *sender
}

// NewAlertmanager makes a notifier for the Alertmanagers at the given base URLs (http://host:9093, with a path prefix
// if it has one). It sends each alert to all of them, as their deduplication expects. A URL may contain credentials
// for basic authentication. Nothing is sent before Notify. Without a URL, for an invalid or repeated URL and for an
// invalid option, the error matches [ErrInvalidURL] or [ErrInvalidOption].
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

// Notify posts the confirmed and the resolved findings of r, and returns when every Alertmanager has answered or its
// retries are spent. It sends nothing for a standby report and for one without such findings. The error is nil if at
// least one Alertmanager took each alert; else it joins the [*SendError] of each that failed. Sending the same report
// again is harmless. When ctx ends, Notify returns soon, with the errors of the context and of the last attempts.
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

// alerts makes one alert of each finding.
func (c *config) alerts(r scanner.Report, now time.Time) []alert {
	all := make([]alert, 0, len(r.Findings)+len(r.Resolved))
	for _, f := range r.Findings {
		all = append(all, c.alertFor(f, now, now.Add(HoldIntervals*c.resend)))
	}
	for _, f := range ended(&r) {
		all = append(all, c.alertFor(f, now, now))
	}
	return all
}

// postAll returns the result of each body at each endpoint: errors[endpoint][body].
func (a *Alertmanager) postAll(ctx context.Context, bodies [][]byte) [][]error {
	errs := make([][]error, len(a.to))
	var wg sync.WaitGroup
	for i, to := range a.to {
		wg.Go(func() { errs[i] = a.postTo(ctx, to, bodies) })
	}
	wg.Wait()
	return errs
}

// postTo gives up an endpoint that does not answer, because each further body would cost all the timeouts again. An
// endpoint that refuses one body may still take the next.
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

// judge returns an error if no endpoint took some body. Otherwise it logs the endpoints that failed.
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
