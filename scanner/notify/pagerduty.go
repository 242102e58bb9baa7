package notify

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// PagerDutyURL takes events of the Events API v2. [NewWebhook] posts there if its URL is "".
const PagerDutyURL = "https://events.pagerduty.com/v2/enqueue"

const (
	// MaxIncidents is how many incidents of PagerDuty a notifier keeps open at a time.
	// Further findings wait until one is resolved, the worst first. Each incident says how
	// many findings its report had.
	MaxIncidents = 100
	// maxEvents bounds the events of one report. PagerDuty takes one event a request, and a
	// scanner gives a notifier 10 s.
	maxEvents  = 20
	maxSummary = 1024 // characters, says PagerDuty; bytes are never fewer
)

// Severities returns the severities that PagerDuty takes, worst first.
func Severities() []string { return []string{"critical", "error", "warning", "info"} }

// pagerEvent is the body of a request to the Events API v2.
type pagerEvent struct {
	RoutingKey string        `json:"routing_key"`
	Action     string        `json:"event_action"`
	DedupKey   string        `json:"dedup_key"`
	Payload    *pagerPayload `json:"payload,omitempty"` // of a trigger
	Client     string        `json:"client,omitempty"`
	ClientURL  string        `json:"client_url,omitempty"`
	Links      []pagerLink   `json:"links,omitempty"`
}

type pagerPayload struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  string         `json:"severity"`
	Timestamp time.Time      `json:"timestamp,omitzero"`
	Component string         `json:"component"`
	Group     string         `json:"group,omitempty"`
	Class     string         `json:"class"`
	Details   map[string]any `json:"custom_details"`
}

type pagerLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

// pagerDuty triggers an incident once and resolves it. An event that PagerDuty did not take
// is sent again with the next report. PagerDuty does not report back: an incident that
// somebody resolves there stays in open until its finding ends.
type pagerDuty struct {
	config *config

	mu      sync.Mutex
	open    map[string]bool // dedup keys of incidents that this notifier has triggered
	resolve []string        // dedup keys of findings that have ended, in that order
}

func (p *pagerDuty) messages(r scanner.Report) ([]message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []message
	lasting := make(map[string]bool, len(r.Findings))
	for i := range r.Findings {
		f := &r.Findings[i]
		key := identityOf(f).dedupKey()
		lasting[key] = true
		if p.open[key] || len(all) == maxEvents || len(p.open)+len(all) >= MaxIncidents {
			continue
		}
		body, err := json.Marshal(p.trigger(f, key, len(r.Findings)+r.Overflow))
		if err != nil {
			return nil, err
		}
		all = append(all, message{body: body, taken: func() { p.triggered(key) }})
	}
	p.enqueue(&r, lasting)
	for _, key := range p.resolve[:min(len(p.resolve), maxEvents-len(all))] {
		body, err := json.Marshal(pagerEvent{
			RoutingKey: p.config.routingKey, Action: "resolve", DedupKey: key,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, message{body: body, taken: func() { p.resolved(key) }})
	}
	return all, nil
}

// enqueue adds the findings that have ended. A finding without an incident of this notifier
// may have one of an earlier process: at most MaxIncidents of these wait to be resolved.
func (p *pagerDuty) enqueue(r *scanner.Report, lasting map[string]bool) {
	p.resolve = slices.DeleteFunc(p.resolve, func(key string) bool { return lasting[key] })
	for _, f := range ended(r) {
		key := identityOf(&f).dedupKey()
		if !slices.Contains(p.resolve, key) && (p.open[key] || len(p.resolve) < MaxIncidents) {
			p.resolve = append(p.resolve, key)
		}
	}
}

func (p *pagerDuty) triggered(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[key] = true
}

func (p *pagerDuty) resolved(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, key)
	p.resolve = slices.DeleteFunc(p.resolve, func(k string) bool { return k == key })
}

// trigger returns the event for a finding; findings is how many the report has.
func (p *pagerDuty) trigger(f *scanner.Finding, key string, findings int) pagerEvent {
	c := p.config
	texts := c.annotationsFor(*f)
	lock := clipUnique(f.Lock(), maxLabel)
	details := map[string]any{
		"lock": lock, "node": clip(valid(f.Node), maxText), "class": f.Class,
		"description": texts["description"], "evidence": texts["evidence"], "findings": findings,
	}
	if c.instance != "" {
		details["instance"] = valid(c.instance)
	}
	e := pagerEvent{
		RoutingKey: c.routingKey, Action: "trigger", DedupKey: key, Client: userAgent, ClientURL: c.generator,
		Payload: &pagerPayload{
			Summary: clip(texts["summary"], maxSummary), Source: clipUnique(valid(f.Node), maxLabel),
			Severity: c.severityOf(f.Class), Timestamp: f.FirstSeen, Component: lock, Group: valid(f.Group),
			Class: string(f.Class), Details: details,
		},
	}
	if url := c.runbookFor(f.Class); url != "" {
		e.Links = []pagerLink{{Href: url, Text: "Runbook " + AlertName(f.Class)}}
	}
	return e
}
