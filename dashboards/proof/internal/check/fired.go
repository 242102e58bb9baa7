package check

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/prometheus/common/model"
)

// Alerting is an alerting rule. Rules of one alert differ in severity or window.
type Alerting struct {
	Name, Severity, Window string
	For                    time.Duration
}

func (a Alerting) String() string {
	text := a.Name + " (" + a.Severity
	if a.Window != "" {
		text += ", " + a.Window
	}
	return text + ")"
}

// Live is the state of an alerting rule at one time.
type Live struct {
	Alerting
	Firing int
	// Told is the summary of an alert that fires.
	Told string
}

// AskAlerting returns every alerting rule, including those that do not fire.
func (c *Checker) AskAlerting(ctx context.Context) ([]Live, error) {
	var loaded ruleGroups
	if err := c.prometheus.ask(ctx, "/api/v1/rules", nil, &loaded); err != nil {
		return nil, err
	}
	var all []Live
	for _, g := range loaded.Groups {
		for _, r := range g.Rules {
			if r.Type != "alerting" {
				continue
			}
			live := Live{Alerting: Alerting{Name: r.Name, Severity: r.Labels["severity"],
				Window: r.Labels["long_window"],
				For:    time.Duration(r.Duration * float64(time.Second))}}
			for _, a := range r.Alerts {
				if a.State == "firing" {
					live.Firing++
					live.Told = a.Annotations["summary"]
				}
			}
			all = append(all, live)
		}
	}
	return all, nil
}

// Fired records the alerting rules that have fired, and when they did so first.
type Fired struct {
	at   map[Alerting]time.Duration
	told map[Alerting]string
}

// Note records the rules that fire at this time.
func (f *Fired) Note(all []Live, at time.Duration) {
	if f.at == nil {
		f.at, f.told = make(map[Alerting]time.Duration), make(map[Alerting]string)
	}
	for _, live := range all {
		if _, known := f.at[live.Alerting]; !known && live.Firing > 0 {
			f.at[live.Alerting], f.told[live.Alerting] = at, live.Told
		}
	}
}

// Lacking returns the rules that have never fired, except those that wait longer than patience.
func (f *Fired) Lacking(all []Live, patience time.Duration) (problems []Problem) {
	for _, live := range all {
		if _, fired := f.at[live.Alerting]; !fired && live.For <= patience {
			problems = append(problems, Problem{Where: "alert " + live.Alerting.String(), What: "has never fired"})
		}
	}
	return problems
}

// Write writes a line for each rule in their order. Waits are in minutes of the rules.
func (f *Fired) Write(w io.Writer, all []Live, minute time.Duration) {
	t := newTable(w, "alert\tseverity\twindow\tfor\tfired after\tone of them\t")
	for _, live := range all {
		at, fired := f.at[live.Alerting]
		when := "-"
		if fired {
			when = fmt.Sprintf("%.0f min", at.Minutes()*float64(time.Minute)/float64(minute))
		}
		waits := time.Duration(float64(live.For) * float64(time.Minute) / float64(minute))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", live.Name, live.Severity, live.Window, model.Duration(waits), when,
			f.told[live.Alerting])
	}
	_ = t.Flush()
}

// StillFiring returns the alerts that fire although all faults have ended. It leaves out those that may, and those
// whose window is longer than patience.
func StillFiring(all []Live, patience time.Duration, may ...string) (problems []Problem) {
	for _, live := range all {
		if live.Firing > 0 && live.For <= patience && !slices.Contains(may, live.Name) {
			problems = append(problems, Problem{Where: "alert " + live.Alerting.String(), What: "still fires: " +
				live.Told})
		}
	}
	return problems
}
