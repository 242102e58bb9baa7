// Package config holds what a fleet may want to change about its rules and
// dashboards: objectives, windows, thresholds, selectors and addresses.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// WaitBuckets are the finite bounds of distributed_lock_wait_seconds. Only at one
// of them can waits be told apart.
var WaitBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5}

// NodeBuckets are those of distributed_lock_node_duration_seconds.
var NodeBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}

// FloorBucket returns the largest bound that is not above v, or the smallest of all.
func FloorBucket(bounds []float64, v float64) float64 {
	floor := bounds[0]
	for _, b := range bounds {
		if b <= v {
			floor = b
		}
	}
	return floor
}

// Config is everything that can be changed.
type Config struct {
	// Selector is added to every selector of the rules, for a Prometheus that
	// watches several environments: env="prod".
	Selector string `yaml:"selector"`
	// Labels tell fleets apart that have jobs of the same name: every rule aggregates by
	// them and by job. A label that series do not have does no harm.
	Labels []string `yaml:"labels"`
	// RunbookURL is the address of an alert's runbook, without its <name>.md.
	RunbookURL string `yaml:"runbook_url"`
	// DashboardURL is the address of Grafana. Without it, dashboard_url is a path.
	DashboardURL string `yaml:"dashboard_url"`
	// ExporterJob, if set, makes DistributedLockExporterDown fire also if this
	// scrape job has never had a target that is up.
	ExporterJob string `yaml:"exporter_job"`
	// Interval is how often rules are evaluated. Rules about days are evaluated
	// every three intervals, which must be below five minutes: Prometheus does
	// not look further back for a recorded value.
	Interval model.Duration `yaml:"interval"`
	SLO      SLO            `yaml:"slo"`
	Alerts   Thresholds     `yaml:"alerts"`
	// Resources are those that differ from what is usual.
	Resources []Resource `yaml:"resources,omitempty"`
	Boards    Boards     `yaml:"boards"`
}

// Resource is what is expected of one value of the label resource, in every job.
type Resource struct {
	Resource string `yaml:"resource"`
	// Every is the interval of scheduled work: without a success for half as long
	// again DistributedLockOverdue fires.
	Every model.Duration `yaml:"every,omitempty"`
	// Queues says that callers are meant to wait for long, as for the election of a
	// leader: no alert is about their waits.
	Queues bool `yaml:"queues,omitempty"`
}

// SLO is what every resource is promised.
type SLO struct {
	Availability float64 `yaml:"availability"` // share of acquires that get the lock
	Wait         float64 `yaml:"wait"`         // share of acquires that wait for WithinSeconds at most
	// WithinSeconds is one of WaitBuckets.
	WithinSeconds float64        `yaml:"within_seconds"`
	Period        model.Duration `yaml:"period"` // for which the error budget is meant to last
	Windows       []Window       `yaml:"windows"`
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
		RunbookURL: "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks",
		Labels:     []string{"cluster"},
		Interval:   minutes(1),
		Boards:     defaultBoards(),
		SLO: SLO{
			Availability: 0.999, Wait: 0.99, WithinSeconds: 0.5, Period: days(30),
			MinAcquires: 10, MinBad: 3,
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

// Read returns the defaults changed by the YAML file at path. Unknown fields are refused.
func Read(path string) (Config, error) {
	c := Default()
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// YAML returns the configuration as Read accepts it.
func (c Config) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(c)
	return b.Bytes(), err
}

// Within is a matcher for the bucket of waits that are good. Prometheus 2 stores
// the bound 1 as "1" or "1.0", depending on the format it was scraped in, and 3 as "1.0".
func (s SLO) Within() string { return Bound(s.WithinSeconds) }

// Bound is a matcher for the bucket with this bound, however it is spelled.
func Bound(le float64) string {
	text := strconv.FormatFloat(le, 'f', -1, 64)
	if strings.Contains(text, ".") {
		return fmt.Sprintf(`le="%s"`, text)
	}
	return fmt.Sprintf(`le=~"%s([.]0)?"`, text)
}

// Validate names everything that cannot work.
func (c Config) Validate() error {
	return errors.Join(slices.Concat(c.SLO.problems(), c.problems(), c.boardProblems())...)
}

func (c Config) problems() []error {
	var bad []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Errorf(format, args...))
		}
	}
	check(c.Interval > 0 && 3*c.Interval < minutes(5), "interval: %s; three of them must be below five minutes", c.Interval)
	check(matchers(c.Selector), `selector: %s; want matchers such as env="prod"`, c.Selector)
	check(c.RunbookURL != "", "runbook_url: empty")
	check(!slices.ContainsFunc(c.Labels, func(l string) bool { return !labelName.MatchString(l) || l == "job" || l == "instance" }),
		"labels: %s; want names of labels beside job and instance", c.Labels)
	for i, r := range c.Resources {
		check(r.Resource != "" && (r.Every > 0 || r.Queues), "resources: number %d needs a resource, and every or queues", i+1)
		check(r.Every >= 0 && r.Every <= days(14), "resources: %s: every: %s is above 14d", r.Resource, r.Every)
	}
	check(!strings.HasSuffix(c.RunbookURL, "/") && !strings.HasSuffix(c.DashboardURL, "/"), "runbook_url and dashboard_url must not end in /")
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

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// matchers reports that a selector is a list of matchers and nothing else.
func matchers(selector string) bool {
	const metric = "m"
	found, err := parser.NewParser(parser.Options{}).ParseMetricSelector(metric + "{" + selector + "}")
	return err == nil && !strings.HasSuffix(strings.TrimSpace(selector), ",") && len(found) > 0
}

func (s SLO) problems() []error {
	var bad []error
	for name, v := range map[string]float64{"availability": s.Availability, "wait": s.Wait} {
		if v <= 0 || v >= 1 {
			bad = append(bad, fmt.Errorf("slo: %s: %v is not between 0 and 1", name, v))
		}
	}
	if !slices.Contains(WaitBuckets, s.WithinSeconds) {
		bad = append(bad, fmt.Errorf("slo: within_seconds: %v is not a bucket of distributed_lock_wait_seconds, which are %v", s.WithinSeconds, WaitBuckets))
	}
	if s.Period < days(1) {
		bad = append(bad, fmt.Errorf("slo: period: %s is below a day", s.Period))
	}
	if len(s.Windows) == 0 {
		bad = append(bad, errors.New("slo: no windows"))
	}
	for i, w := range s.Windows {
		if w.Severity == "" || w.Factor <= 0 || w.Short < minutes(5) || w.Short >= w.Long || w.Long >= s.Period {
			bad = append(bad, fmt.Errorf("slo: window %d: needs a severity, a factor above 0, and 5m <= short < long < period", i+1))
		}
	}
	return bad
}
