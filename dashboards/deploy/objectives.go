package deploy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

// Objectives are the objectives of every resource. 0 keeps the shipped value.
type Objectives struct {
	Availability float64 // share of acquires that get the lock
	Wait         float64 // share of acquires that wait at most Within seconds
	Within       float64 // seconds; a bucket of distributed_lock_wait_seconds
	Resources    []Resource
}

// Resource has the expectations of one value of the label resource.
type Resource struct {
	Resource string         `yaml:"resource"`
	Every    model.Duration `yaml:"every,omitempty"`  // interval of scheduled work
	Queues   bool           `yaml:"queues,omitempty"` // callers are expected to wait long
}

// ShippedObjectives returns the objectives of the shipped files.
func ShippedObjectives() Objectives { return Objectives{Availability: 0.999, Wait: 0.99, Within: 0.5} }

// WaitBuckets returns the finite bounds of distributed_lock_wait_seconds. An objective for waits must be
// one of them.
func WaitBuckets() []float64 { return []float64{.001, .005, .01, .05, .1, .5, 1, 5} }

// Period is the longest window of the rules, over which the budgets are counted. Retention is how long Prometheus must
// keep recorded series for it: it removes only whole blocks, and the oldest may cover three days.
const (
	Period    = 30 * 24 * time.Hour
	Retention = Period + 5*24*time.Hour
)

// longestInterval is half the time for which the last success of a resource is surely known.
const longestInterval = model.Duration(14 * 24 * 3600 * 1e9)

// Read returns the settings in a YAML file of values: those that dashboards/gen reads, apart from windows and
// thresholds. Errors name the unknown field and the file.
func Read(path string) (s Settings, err error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("--values: %w", err)
	}
	var have struct {
		Settings `yaml:",inline"`
		SLO      struct {
			Availability float64 `yaml:"availability"`
			Wait         float64 `yaml:"wait"`
			Within       float64 `yaml:"within_seconds"`
		} `yaml:"slo"`
		Resources []Resource `yaml:"resources"`
	}
	d := yaml.NewDecoder(bytes.NewReader(file))
	d.KnownFields(true)
	if err := d.Decode(&have); err != nil && !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("--values %s: %w; use dashboards/gen to change windows and thresholds", path, err)
	}
	have.Objectives = Objectives{have.SLO.Availability, have.SLO.Wait, have.SLO.Within, have.Resources}
	return have.Settings, nil
}

// Override parses pairs such as availability=0.9999,wait=0.95,within=0.1.
func (o *Objectives) Override(text string) error {
	fields := map[string]*float64{"availability": &o.Availability, "wait": &o.Wait, "within": &o.Within}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		v, err := strconv.ParseFloat(value, 64)
		if fields[key] == nil || err != nil || v == 0 {
			return fmt.Errorf("--objectives %s: want availability, wait or within with a number above 0", pair)
		}
		*fields[key] = v
	}
	return nil
}

func (o Objectives) check() error {
	var errs []error
	for name, v := range map[string]float64{"availability": o.Availability, "wait": o.Wait} {
		if v != 0 && !(v > 0 && v < 1) {
			errs = append(errs, fmt.Errorf("--objectives: %s=%v is not between 0 and 1", name, v))
		}
	}
	if bounds := WaitBuckets(); o.Within != 0 && !slices.Contains(bounds, o.Within) {
		errs = append(errs, fmt.Errorf(
			"--objectives: within=%v is not a bucket of distributed_lock_wait_seconds: use one of %v",
			o.Within, bounds))
	}
	for i, r := range o.Resources {
		if r.Resource == "" || r.Every <= 0 && !r.Queues || r.Every < 0 || r.Every > longestInterval {
			errs = append(errs, fmt.Errorf(
				"--objectives: resource %d %s: needs a name, and either every (at most 14d) or queues",
				i+1, r.Resource))
		}
	}
	return errors.Join(errs...)
}

func (o Objectives) changesNumbers() bool {
	have, shipped := o.orShipped(), ShippedObjectives()
	return have.Availability != shipped.Availability || have.Wait != shipped.Wait || have.Within != shipped.Within
}

// orShipped replaces every 0 with the shipped value.
func (o Objectives) orShipped() Objectives {
	shipped := ShippedObjectives()
	o.Availability = cmp.Or(o.Availability, shipped.Availability)
	o.Wait = cmp.Or(o.Wait, shipped.Wait)
	o.Within = cmp.Or(o.Within, shipped.Within)
	return o
}

// budget returns 1 - target without its floating-point error.
func budget(target float64) float64 { return math.Round(1e9*(1-target)) / 1e9 }

func number(v float64) string { return fmt.Sprintf("%g", v) }

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) }
