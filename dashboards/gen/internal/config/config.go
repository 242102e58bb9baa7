// Package config holds what the rules and the dashboards are made with: windows,
// thresholds, and what charts show.
package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
)

// Config is what rules and dashboards are made with. What a fleet is promised, and what it calls itself,
// is not in it: dashboards/deploy fits to that what is made.
type Config struct {
	// Interval is how often rules are evaluated. Rules about days are evaluated
	// every three intervals, which must be below five minutes: Prometheus does
	// not look further back for a recorded value.
	Interval model.Duration
	SLO      SLO
	Alerts   Thresholds
	Boards   Boards
}

// SLO is how the objectives of all resources are watched.
type SLO struct {
	Period  model.Duration `yaml:"period"` // for which the error budget is meant to last
	Windows []Window       `yaml:"windows"`
	// An alert needs MinAcquires acquires in its long window. MinBad is for alerts that
	// belong to no window.
	MinAcquires int `yaml:"min_acquires"`
	MinBad      int `yaml:"min_bad"`
}

// Window is one condition of a multi-window, multi-burn-rate alert: the budget
// burns Factor times too fast, over Long and still over Short.
type Window struct {
	Severity string         `yaml:"severity"`
	Long     model.Duration `yaml:"long"`
	Short    model.Duration `yaml:"short"`
	Factor   float64        `yaml:"factor"`
	For      model.Duration `yaml:"for"`
	// MinBad bad acquires are needed in the long window: one failure at night wakes nobody.
	MinBad int `yaml:"min_bad"`
}

// Thresholds are those of the alerts that belong to no objective.
type Thresholds struct {
	WaitP99Seconds      float64        `yaml:"wait_p99_seconds"`
	NodeP99Seconds      float64        `yaml:"node_p99_seconds"`
	AttemptsPerAcquire  float64        `yaml:"attempts_per_acquire"` // a retry storm has more,
	AttemptsPerSecond   float64        `yaml:"attempts_per_second"`  // and is fast enough to matter
	Waiters             float64        `yaml:"waiters"`              // a pile has as many,
	DrainSeconds        float64        `yaml:"drain_seconds"`        // and takes longer than this at the present pace
	ReleaseFailureRatio float64        `yaml:"release_failure_ratio"`
	ScannerStale        model.Duration `yaml:"scanner_stale"`
}

// Default returns what the committed files are made with.
func Default() Config {
	return Config{
		Interval: minutes(1),
		Boards:   defaultBoards(),
		SLO: SLO{
			Period: days(30), MinAcquires: 10, MinBad: 3,
			Windows: []Window{
				{Severity: "critical", Long: hours(1), Short: minutes(5), Factor: 14.4, For: minutes(2), MinBad: 5},
				{Severity: "critical", Long: hours(6), Short: minutes(30), Factor: 6, For: minutes(15), MinBad: 5},
				{Severity: "warning", Long: days(1), Short: hours(2), Factor: 3, For: hours(1), MinBad: 3},
				{Severity: "warning", Long: days(3), Short: hours(6), Factor: 1, For: hours(3), MinBad: 3},
			},
		},
		Alerts: Thresholds{
			WaitP99Seconds:      1,
			NodeP99Seconds:      0.025, // half of the default node timeout
			AttemptsPerAcquire:  10,
			AttemptsPerSecond:   20,
			Waiters:             10,
			DrainSeconds:        30,
			ReleaseFailureRatio: 0.01,
			ScannerStale:        minutes(15),
		},
	}
}

func minutes(n int) model.Duration { return model.Duration(time.Duration(n) * time.Minute) }
func hours(n int) model.Duration   { return minutes(60 * n) }
func days(n int) model.Duration    { return hours(24 * n) }

// Check names everything that cannot work.
func (c Config) Check() error {
	return errors.Join(slices.Concat(c.SLO.problems(), c.problems(), c.Boards.problems())...)
}

func (c Config) problems() []error {
	var bad []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Errorf(format, args...))
		}
	}
	check(c.Interval > 0 && 3*c.Interval < minutes(5),
		"interval: %s; three of them must be below five minutes", c.Interval)
	for name, v := range map[string]float64{
		"wait_p99_seconds": c.Alerts.WaitP99Seconds, "node_p99_seconds": c.Alerts.NodeP99Seconds,
		"attempts_per_acquire": c.Alerts.AttemptsPerAcquire, "attempts_per_second": c.Alerts.AttemptsPerSecond,
		"waiters": c.Alerts.Waiters, "drain_seconds": c.Alerts.DrainSeconds,
		"release_failure_ratio": c.Alerts.ReleaseFailureRatio, "scanner_stale": float64(c.Alerts.ScannerStale),
	} {
		check(v > 0, "alerts: %s must be above 0", name)
	}
	return bad
}

func (s SLO) problems() []error {
	var bad []error
	if s.Period < days(1) {
		bad = append(bad, fmt.Errorf("slo: period: %s is below a day", s.Period))
	}
	if len(s.Windows) == 0 {
		bad = append(bad, errors.New("slo: no windows"))
	}
	for i, w := range s.Windows {
		if w.Severity == "" || w.Factor <= 0 || w.Short < minutes(5) || w.Short >= w.Long || w.Long >= s.Period {
			bad = append(bad, fmt.Errorf(
				"slo: window %d: needs a severity, a factor above 0, and 5m <= short < long < period", i+1))
		}
	}
	return bad
}
