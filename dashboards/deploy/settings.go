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

// ClusterLabel is the label that tells fleets apart in the shipped files.
const ClusterLabel = "cluster"

// ShippedRunbooks is the address of the runbooks in the shipped files.
const ShippedRunbooks = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks"

// Settings are the differences from the shipped files. The zero value changes nothing.
type Settings struct {
	// Labels replace cluster as the labels that tell fleets with jobs of the same name apart. Nil keeps
	// cluster. An empty list that is not nil uses no label.
	Labels []string
	// Selector is a list of matchers, such as env="prod", that is added to every selector of a scraped
	// metric. Recorded series are not matched again: they may lack these labels.
	Selector string
	// Objectives are the objectives of the resources.
	Objectives Objectives
	// RunbookURL is the address of the folder with the runbooks. Empty keeps ShippedRunbooks.
	RunbookURL string
	// GrafanaURL is the address of Grafana. Without it alerts link to a path.
	GrafanaURL string
	// ExporterJob is a scrape job. DistributedLockExporterDown also fires if none of its targets is up.
	ExporterJob string
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Check returns an error that names every invalid setting.
func (s Settings) Check() error {
	errs := []error{
		address("--runbook-url", s.RunbookURL), address("--grafana-url", s.GrafanaURL), s.Objectives.check(),
	}
	reserved := []string{"job", "instance", labels.MetricName}
	for i, l := range s.Labels {
		if !labelName.MatchString(l) || slices.Contains(append(reserved, s.Labels[:i]...), l) {
			errs = append(errs, fmt.Errorf(
				"--labels %s: want names of labels other than job and instance, such as cluster,namespace", l))
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

// matchers returns the matchers of the selector.
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

// concernsBoards reports whether boards change in more than the address of the runbooks.
func (s Settings) concernsBoards() bool {
	return s.Labels != nil || s.Selector != "" || s.Objectives.changesNumbers()
}
