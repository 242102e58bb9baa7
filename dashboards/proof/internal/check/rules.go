package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rules summarises the state of the rules.
type Rules struct {
	Groups, Recording, Alerting, Recorded int
}

type ruleGroups struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Name, Type, Health, LastError string
			Labels                        map[string]string
			Duration                      float64 // seconds
			Alerts                        []struct {
				State       string
				Annotations map[string]string
			}
		}
	}
}

// AskRules requires that every rule was evaluated without an error, and that every recording rule recorded a finite
// number.
func (c *Checker) AskRules(ctx context.Context) (found Rules, problems []Problem) {
	var loaded ruleGroups
	if err := c.prometheus.ask(ctx, "/api/v1/rules", nil, &loaded); err != nil {
		return found, []Problem{{Where: "rules", What: err.Error()}}
	}
	found.Groups = len(loaded.Groups)
	var recorded []string
	for _, g := range loaded.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" || r.LastError != "" {
				problems = append(problems, Problem{Where: g.Name + " / " + r.Name,
					What: strings.TrimSpace("health is " + r.Health + " " + r.LastError)})
			}
			if r.Type != "recording" {
				found.Alerting++
				continue
			}
			found.Recording++
			recorded = append(recorded, r.Name)
		}
	}
	if found.Recording == 0 || found.Alerting == 0 {
		problems = append(problems, Problem{Where: "rules",
			What: fmt.Sprintf("%d recording rules and %d alerts are loaded", found.Recording, found.Alerting)})
	}
	slices.Sort(recorded)
	for _, name := range slices.Compact(recorded) {
		p := c.recorded(ctx, name)
		if p != nil && (p.Answer != "" || !slices.Contains(c.Quiet, name)) {
			problems = append(problems, *p)
		}
		if p != nil {
			continue
		}
		found.Recorded++
	}
	return found, problems
}

// recorded counts finite numbers: the quantile of no events is none.
func (c *Checker) recorded(ctx context.Context, name string) *Problem {
	expr := fmt.Sprintf(`count({__name__=%q} > -Inf < Inf)`, name)
	answer, err := c.prometheus.instant(ctx, expr, time.Now())
	switch {
	case err != nil:
		return &Problem{Where: "rule " + name, Query: expr, Answer: err.Error(), What: "fails"}
	case len(answer) == 0:
		return &Problem{Where: "rule " + name, Query: expr, What: "recorded no finite number"}
	}
	return nil
}

// AskTargets requires that every target is scraped without an error.
func (c *Checker) AskTargets(ctx context.Context) (n int, problems []Problem) {
	var all struct {
		ActiveTargets []struct{ ScrapeURL, Health, LastError string }
	}
	if err := c.prometheus.ask(ctx, "/api/v1/targets", nil, &all); err != nil {
		return 0, []Problem{{Where: "targets", What: err.Error()}}
	}
	for _, t := range all.ActiveTargets {
		if t.Health != "up" {
			problems = append(problems, Problem{Where: t.ScrapeURL,
				What: strings.TrimSpace("is " + t.Health + " " + t.LastError)})
		}
	}
	return len(all.ActiveTargets), problems
}

// Alert is the state of an alert, by name, in Prometheus and in the Alertmanager.
type Alert struct {
	Name, Severity           string
	Firing, Pending, Arrived int
}

// AskAlerts reads the alerts of both. It leaves out alerts that are neither pending nor firing.
func (c *Checker) AskAlerts(ctx context.Context) ([]Alert, error) {
	var raised struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	var arrived []struct {
		Labels map[string]string
		Status struct{ State string }
	}
	err := errors.Join(c.prometheus.ask(ctx, "/api/v1/alerts", nil, &raised),
		c.alertmanager.get(ctx, "/api/v2/alerts", nil, &arrived))
	if err != nil {
		return nil, err
	}
	all := make(alerts)
	for _, a := range raised.Alerts {
		if a.State == "firing" {
			all.of(a.Labels).Firing++
		} else {
			all.of(a.Labels).Pending++
		}
	}
	for _, a := range arrived {
		if a.Status.State == "active" {
			all.of(a.Labels).Arrived++
		}
	}
	list := make([]Alert, 0, len(all))
	for _, a := range all {
		list = append(list, *a)
	}
	return list, nil
}

func (a Alert) key() [2]string { return [2]string{a.Name, a.Severity} }

// alerts are by name and severity.
type alerts map[[2]string]*Alert

func (all alerts) of(labels map[string]string) *Alert {
	a := Alert{Name: labels["alertname"], Severity: labels["severity"]}
	if all[a.key()] == nil {
		all[a.key()] = &a
	}
	return all[a.key()]
}

// Missing returns the names of alerts that do not fire, or have not arrived.
func Missing(all []Alert, names ...string) (problems []Problem) {
	for _, name := range names {
		there := slices.ContainsFunc(all, func(a Alert) bool { return a.Name == name && a.Firing > 0 && a.Arrived > 0 })
		if !there {
			problems = append(problems, Problem{Where: "alert " + name, Answer: fmt.Sprintf("%+v", all),
				What: "is not both firing in Prometheus and active in the Alertmanager"})
		}
	}
	return problems
}
