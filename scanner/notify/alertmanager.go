package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// alertsPath is where Alertmanager takes alerts since 0.16.
const alertsPath = "/api/v2/alerts"

// holdIntervals is how many intervals an alert outlives its last report: three reports may get lost.
const holdIntervals = 4

// Alertmanager configures [NewAlertmanager].
type Alertmanager struct {
	// URLs are the members of one cluster: http://host:9093, with a path prefix if it has one.
	URLs []string
	// Interval is the time between two reports; a minute if it is 0. An alert ends four of them after the last report
	// that had it.
	Interval time.Duration
	Labels   map[string]string        // of every alert, for routing
	Severity map[inspect.Class]string // label severity; warning if left out
	Logger   *slog.Logger             // for members that did not take alerts that another took; nil logs nothing
	Access
}

type alertmanager struct {
	Alertmanager
	to []*endpoint
}

// NewAlertmanager makes a notifier that posts alerts to all members of an Alertmanager cluster. Each report repeats the
// alerts of all its findings. Their label lock_node is the server that the scanner was given: a cluster has one name,
// whatever its masters are. Their labels lock_policy and team are those of the lock's policy, so that one scanner's
// alerts are routed to many teams. A team of Labels is that of all other locks. A finding that a report resolves ends
// its alert at once, and any other alert ends when it is repeated no more. Notify fails if no member took the alerts.
func NewAlertmanager(c Alertmanager) (scanner.Notifier, error) {
	if c.Interval == 0 {
		c.Interval = time.Minute
	}
	switch {
	case len(c.URLs) == 0:
		return nil, fmt.Errorf("%w: no URL of an Alertmanager", ErrConfig)
	case c.Interval < time.Second:
		return nil, fmt.Errorf("%w: interval %v between reports: use 1s or more", ErrConfig, c.Interval)
	}
	for name := range c.Labels {
		if !labelName.MatchString(name) || slices.Contains(ownLabels, name) {
			return nil, fmt.Errorf("%w: label %q: no label name, or set by the notifier", ErrConfig, name)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	a := &alertmanager{Alertmanager: c}
	for i, raw := range c.URLs {
		to, err := newEndpoint(raw, alertsPath, c.Access)
		if err != nil {
			return nil, fmt.Errorf("URL %d: %w", i+1, err)
		}
		a.to = append(a.to, to)
	}
	return a, nil
}

// labelName leaves out the colon, which is for recording rules' metric names.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

var ownLabels = []string{"alertname", "severity", "lock_node", "lock_group", "lock_policy", "class", "lock"}

// maxLabel keeps a long key from filling every notification.
const maxLabel = 256

// alert is one element of a request to Alertmanager's API.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

// Notify posts the alerts of r.
func (a *alertmanager) Notify(ctx context.Context, r report.Report) error {
	alerts := a.alerts(r, time.Now())
	if r.Standby || len(alerts) == 0 {
		return nil
	}
	body, err := json.Marshal(alerts)
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	errs := make([]error, len(a.to))
	var posting sync.WaitGroup
	for i, to := range a.to {
		posting.Go(func() { errs[i] = to.post(ctx, body) })
	}
	posting.Wait()
	if !slices.Contains(errs, nil) {
		return errors.Join(errs...)
	}
	for _, err := range errs {
		if err != nil {
			a.Logger.WarnContext(ctx, "one Alertmanager did not take the alerts, another did", "error", err)
		}
	}
	return nil
}

// alerts are those of r: one for each finding, or one for more than 20.
func (a *alertmanager) alerts(r report.Report, now time.Time) (all []alert) {
	m, ends := newMessage(r), now.Add(holdIntervals*a.Interval)
	if m.Count > most {
		return []alert{a.many(m, r, now, ends)}
	}
	for i, f := range m.Findings {
		all = append(all, a.one(f, serverOf(&m.from.Findings[i]), now, ends))
	}
	for i, f := range m.Resolved {
		all = append(all, a.one(f, serverOf(&m.from.Resolved[i]), now, now))
	}
	if len(m.Resolved) > 0 { // an earlier report may have had too many
		all = append(all, a.many(m, r, now, now))
	}
	return all
}

// one is the alert of a finding. Its labels are its identity: they do not change while the finding lasts.
func (a *alertmanager) one(f report.FindingDocument, server string, now, ends time.Time) alert {
	labels := a.labels(f.Class, f.Group)
	labels["class"] = string(f.Class)
	labels["lock_node"], labels["lock"] = clip(valid(server), maxLabel), clip(lockOf(f), maxLabel)
	if f.Policy != "" {
		labels["lock_policy"] = clip(valid(f.Policy), maxLabel)
	}
	if f.Team != "" {
		labels["team"] = clip(valid(f.Team), maxLabel)
	}
	return alert{labels, map[string]string{
		"summary": summary(f), "description": description(f), "evidence": valid(f.Evidence),
		"runbook_url": runbook(f.Class),
	}, began(f.FirstSeen, now), ends}
}

// many is the alert of a scanner with too many findings. It has the scanner's servers as a label, because others may
// have the same group, or none.
func (a *alertmanager) many(m Message, r report.Report, now, ends time.Time) alert {
	labels := a.labels(inspect.NoTTL, m.Group)
	if len(r.Servers) > 0 {
		labels["lock_node"] = clip(valid(strings.Join(r.Servers, ",")), maxLabel)
	}
	counts, locks := make(map[inspect.Class]int), make(map[string]bool)
	first := now
	for _, f := range r.Findings {
		locks[f.Lock()] = true
		counts[f.Class]++
		first = began(f.FirstSeen, first)
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[class], class))
	}
	least := ""
	if r.Overflow > 0 {
		least = "at least "
	}
	summary := fmt.Sprintf("%d findings of %s%d locks", m.Count, least, len(locks))
	if m.Group != "" {
		summary += " in group " + valid(m.Group)
	}
	return alert{labels, map[string]string{
		"summary":     summary + ".",
		"description": "By class: " + strings.Join(parts, ", ") + `. List them with "lockscope scan".`,
		"runbook_url": runbook(inspect.NoTTL),
	}, first, ends}
}

// began is when a finding was first seen, if that was before a time. Alertmanager refuses an alert that ends before it
// starts.
func began(seen, before time.Time) time.Time {
	if seen.IsZero() || seen.After(before) {
		return before
	}
	return seen
}

func (a *alertmanager) labels(class inspect.Class, group string) map[string]string {
	labels := make(map[string]string)
	for name, value := range a.Labels {
		labels[name] = valid(value)
	}
	labels["alertname"], labels["severity"] = textsOf(class).alert, "warning"
	if s, ok := a.Severity[class]; ok {
		labels["severity"] = valid(s)
	}
	if group != "" {
		labels["lock_group"] = valid(group)
	}
	return labels
}
