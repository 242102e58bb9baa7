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

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

// Objectives are what every resource is promised; 0 leaves what is shipped.
type Objectives struct {
	Availability float64 // share of acquires that get the lock
	Wait         float64 // share of acquires that wait for Within seconds at most
	Within       float64 // a bucket of distributed_lock_wait_seconds
	Resources    []Resource
}

// Resource is what is expected of one value of the label resource.
type Resource struct {
	Resource string         `yaml:"resource"`
	Every    model.Duration `yaml:"every,omitempty"`  // of scheduled work
	Queues   bool           `yaml:"queues,omitempty"` // callers are meant to wait for long
}

// ShippedObjectives are those that the shipped files are made with.
func ShippedObjectives() Objectives { return Objectives{Availability: 0.999, Wait: 0.99, Within: 0.5} }

// WaitBuckets are the finite bounds of distributed_lock_wait_seconds. Only at one of them can waits
// be told apart.
func WaitBuckets() []float64 { return []float64{.001, .005, .01, .05, .1, .5, 1, 5} }

// longestInterval is how long the last success of a resource is known for certain, halved.
const longestInterval = model.Duration(14 * 24 * 3600 * 1e9)

// ReadObjectives reads pairs such as availability=0.9999,wait=0.95,within=0.1, or else the file
// with the name text: YAML with slo and resources, as dashboards/gen takes it. Errors name what is
// not known, and the file.
func ReadObjectives(text string) (Objectives, error) {
	if text == "" {
		return Objectives{}, nil
	}
	if strings.Contains(text, "=") {
		return pairs(text)
	}
	file, err := os.ReadFile(text)
	if err != nil {
		return Objectives{}, fmt.Errorf(
			"--objectives: neither pairs such as availability=0.9999,wait=0.95,within=0.1 nor a file: %w", err)
	}
	var have struct {
		SLO struct {
			Availability float64 `yaml:"availability"`
			Wait         float64 `yaml:"wait"`
			Within       float64 `yaml:"within_seconds"`
		} `yaml:"slo"`
		Resources []Resource `yaml:"resources"`
	}
	d := yaml.NewDecoder(bytes.NewReader(file))
	d.KnownFields(true)
	if err := d.Decode(&have); err != nil && !errors.Is(err, io.EOF) {
		return Objectives{}, fmt.Errorf(
			"--objectives %s: %w; windows and thresholds are changed with dashboards/gen", text, err)
	}
	return Objectives{have.SLO.Availability, have.SLO.Wait, have.SLO.Within, have.Resources}, nil
}

func pairs(text string) (Objectives, error) {
	var o Objectives
	fields := map[string]*float64{"availability": &o.Availability, "wait": &o.Wait, "within": &o.Within}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		v, err := strconv.ParseFloat(value, 64)
		if fields[key] == nil || err != nil || v == 0 {
			return o, fmt.Errorf("--objectives %s: want availability, wait or within, and a number above 0", pair)
		}
		*fields[key] = v
	}
	return o, nil
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
			"--objectives: within=%v is not a bucket of distributed_lock_wait_seconds, which are %v", o.Within, bounds))
	}
	for i, r := range o.Resources {
		if r.Resource == "" || r.Every <= 0 && !r.Queues || r.Every < 0 || r.Every > longestInterval {
			errs = append(errs, fmt.Errorf(
				"--objectives: resource %d %s: needs a name, and every, of 14d at most, or queues", i+1, r.Resource))
		}
	}
	return errors.Join(errs...)
}

func (o Objectives) changesNumbers() bool {
	have, shipped := o.orShipped(), ShippedObjectives()
	return have.Availability != shipped.Availability || have.Wait != shipped.Wait || have.Within != shipped.Within
}

// orShipped has no number that is 0.
func (o Objectives) orShipped() Objectives {
	shipped := ShippedObjectives()
	o.Availability = cmp.Or(o.Availability, shipped.Availability)
	o.Wait = cmp.Or(o.Wait, shipped.Wait)
	o.Within = cmp.Or(o.Within, shipped.Within)
	return o
}

// budget is what a target leaves, without what 1 - 0.999 has too much.
func budget(target float64) float64 { return math.Round(1e9*(1-target)) / 1e9 }

func number(v float64) string { return fmt.Sprintf("%g", v) }

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) }
