package deploy

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// ClusterLabel is what the shipped files tell fleets apart by.
const ClusterLabel = "cluster"

// ShippedRunbooks is where the shipped files say that the runbooks are.
const ShippedRunbooks = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks"

// Settings are what differs from the shipped files. The zero value changes nothing.
type Settings struct {
	// Labels tell fleets apart that have jobs of the same name, instead of cluster alone. Nil leaves
	// cluster; a list that is empty and not nil leaves none.
	Labels []string
	// Selector has matchers for every selector of a metric that is scraped, such as env="prod".
	// What rules record has been selected before, and need not have these labels.
	Selector string
	// Objectives are what resources are promised.
	Objectives Objectives
	// RunbookURL is the address of the folder with the runbooks.
	RunbookURL string
	// GrafanaURL is the address of Grafana. Without it alerts link to a path.
	GrafanaURL string
	// ExporterJob is a scrape job that must always have a target that is up.
	ExporterJob string
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Check names every setting that cannot work.
func (s Settings) Check() error {
	errs := []error{
		address("--runbook-url", s.RunbookURL), address("--grafana-url", s.GrafanaURL), s.Objectives.check(),
	}
	reserved := []string{"job", "instance", labels.MetricName}
	for i, l := range s.Labels {
		if !labelName.MatchString(l) || slices.Contains(append(reserved, s.Labels[:i]...), l) {
			errs = append(errs, fmt.Errorf(
				"--labels %s: want names of labels beside job and instance, such as cluster,namespace", l))
		}
	}
	_, err := s.matchers()
	return errors.Join(append(errs, err)...)
}

func address(flag, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Fragment == ""
	if !web || strings.ContainsAny(text, " '\"{}") {
		return fmt.Errorf("%s %s: want an address such as https://grafana.example.com", flag, text)
	}
	return nil
}

// matchers are those of the selector.
func (s Settings) matchers() ([]*labels.Matcher, error) {
	if s.Selector == "" {
		return nil, nil
	}
	found, err := parser.NewParser(parser.Options{}).ParseMetricSelector("m{" + s.Selector + "}")
	if err != nil || strings.HasSuffix(strings.TrimSpace(s.Selector), ",") || len(found) < 2 {
		return nil, fmt.Errorf(`--selector %s: want matchers such as env="prod"`, s.Selector)
	}
	return slices.DeleteFunc(found, func(m *labels.Matcher) bool { return m.Name == labels.MetricName }), nil
}

// concernsBoards reports that boards change in more than the address of the runbooks.
func (s Settings) concernsBoards() bool {
	return s.Labels != nil || s.Selector != "" || s.Objectives.changesNumbers()
}
