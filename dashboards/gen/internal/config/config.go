// Package config holds the windows and thresholds of the rules, and the settings of the charts.
package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
)

// Config is the input of the generator of rules and dashboards. Objectives and names of a fleet are not part
// of it: dashboards/deploy applies those to the generated files.
type Config struct {
	// Interval is the evaluation interval of the rules. Rules about days use three intervals, which must be
	// below five minutes: Prometheus does not look further back for a recorded value.
	Interval model.Duration
	SLO      SLO
	Alerts   Thresholds
	Boards   Boards
}

// SLO has the alert windows of the objectives.
type SLO struct {
	Period  model.Duration `yaml:"period"` // how long the error budget must last
	Windows []Window       `yaml:"windows"`
	// MinAcquires is how many acquires an alert needs in its long window. MinBad applies to alerts without
	// windows.
	MinAcquires int `yaml:"min_acquires"`
	MinBad      int `yaml:"min_bad"`
}

// Window is one condition of a multi-window, multi-burn-rate alert: the burn rate is above Factor over Long
// and still over Short.
type Window struct {
	Severity string         `yaml:"severity"`
	Long     model.Duration `yaml:"long"`
	Short    model.Duration `yaml:"short"`
	Factor   float64        `yaml:"factor"`
	For      model.Duration `yaml:"for"`
	// MinBad is how many bad acquires the long window needs, so that one failure at night pages nobody.
	MinBad int `yaml:"min_bad"`
}

// Thresholds are the thresholds of alerts without an objective.
type Thresholds struct {
	WaitP99Seconds      float64        `yaml:"wait_p99_seconds"`
	NodeP99Seconds      float64        `yaml:"node_p99_seconds"`
	AttemptsPerAcquire  float64        `yaml:"attempts_per_acquire"` // a retry storm exceeds both
	AttemptsPerSecond   float64        `yaml:"attempts_per_second"`
	Waiters             float64        `yaml:"waiters"`       // enough callers to matter
	DrainSeconds        float64        `yaml:"drain_seconds"` // maximum at the present rate
	LongWait            model.Duration `yaml:"long_wait"`     // how long one call waits
	ReleaseFailureRatio float64        `yaml:"release_failure_ratio"`
	NodeFailureRatio    float64        `yaml:"node_failure_ratio"` // of a shaky node
	ClockSkewSeconds    float64        `yaml:"clock_skew_seconds"` // of a node against most processes
	ScannerStale        model.Duration `yaml:"scanner_stale"`
	NoLeader            model.Duration `yaml:"no_leader"`      // how long nobody leads
	SemaphoreFull       model.Duration `yaml:"semaphore_full"` // how long callers wait for a slot
	WriterStarved       model.Duration `yaml:"writer_starved"` // how long one call waits while readers hold
}

// Default returns the configuration of the committed files.
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
			LongWait:            minutes(5),
			ReleaseFailureRatio: 0.01,
			NodeFailureRatio:    0.1,
			ClockSkewSeconds:    10,
			ScannerStale:        minutes(15),
			NoLeader:            minutes(1),
			SemaphoreFull:       minutes(5),
			WriterStarved:       minutes(5),
		},
	}
}

func minutes(n int) model.Duration { return model.Duration(time.Duration(n) * time.Minute) }
func hours(n int) model.Duration   { return minutes(60 * n) }
func days(n int) model.Duration    { return hours(24 * n) }

// Check returns an error that names every invalid value.
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
		"interval: %s: three intervals must be below five minutes", c.Interval)
	for name, v := range map[string]float64{
		"wait_p99_seconds": c.Alerts.WaitP99Seconds, "node_p99_seconds": c.Alerts.NodeP99Seconds,
		"attempts_per_acquire": c.Alerts.AttemptsPerAcquire, "attempts_per_second": c.Alerts.AttemptsPerSecond,
		"waiters": c.Alerts.Waiters, "drain_seconds": c.Alerts.DrainSeconds,
		"long_wait": float64(c.Alerts.LongWait), "node_failure_ratio": c.Alerts.NodeFailureRatio,
		"clock_skew_seconds":    c.Alerts.ClockSkewSeconds,
		"release_failure_ratio": c.Alerts.ReleaseFailureRatio, "scanner_stale": float64(c.Alerts.ScannerStale),
		"no_leader": float64(c.Alerts.NoLeader), "semaphore_full": float64(c.Alerts.SemaphoreFull),
		"writer_starved": float64(c.Alerts.WriterStarved),
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
