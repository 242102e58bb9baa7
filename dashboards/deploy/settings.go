package deploy

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ClusterLabel is the label that tells fleets apart in the shipped files.
const ClusterLabel = "cluster"

// ShippedRunbooks is the address of the runbooks in the shipped files.
const ShippedRunbooks = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks"

// Settings are the differences from the shipped files. The zero value changes nothing.
type Settings struct {
	// Labels replace cluster as the labels that tell fleets with jobs of the same name apart. Nil keeps
	// cluster. An empty list that is not nil uses no label.
	Labels []string `yaml:"labels"`
	// Selector is a list of matchers, such as env="prod", that is added to every selector of a scraped
	// metric. Recorded series are not matched again: they may lack these labels.
	Selector string `yaml:"selector"`
	// Objectives are the objectives of the resources.
	Objectives Objectives `yaml:"-"`
	// RunbookURL is the address of the folder with the runbooks. Empty keeps ShippedRunbooks.
	RunbookURL string `yaml:"runbook_url"`
	// GrafanaURL is the address of Grafana. Without it alerts link to a path.
	GrafanaURL string `yaml:"dashboard_url"`
	// ExporterJob is a scrape job. DistributedLockExporterDown also fires if none of its targets is up.
	ExporterJob string `yaml:"exporter_job"`
}

// selector matches a list of matchers.
var selector = func() *regexp.Regexp {
	const matcher = `\s*[a-zA-Z_]\w*\s*(=~|!~|!=|=)\s*("([^"\\]|\\.)*"|'([^'\\]|\\.)*')\s*`
	return regexp.MustCompile(`^` + matcher + `(,` + matcher + `)*$`)
}()

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Check returns an error that names every invalid setting.
func (s Settings) Check() error {
	errs := []error{
		address("--runbook-url", s.RunbookURL), address("--grafana-url", s.GrafanaURL), s.Objectives.check(),
	}
	reserved := []string{"job", "instance", "__name__"}
	for i, l := range s.Labels {
		if !labelName.MatchString(l) || slices.Contains(append(reserved, s.Labels[:i]...), l) {
			errs = append(errs, fmt.Errorf(
				"--labels %s: want names of labels other than job and instance, such as cluster,namespace", l))
		}
	}
	if s.Selector != "" && !selector.MatchString(s.Selector) {
		errs = append(errs, fmt.Errorf(`--selector %s: want matchers such as env="prod"`, s.Selector))
	}
	return errors.Join(errs...)
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

// concernsBoards reports whether boards change in more than the address of the runbooks.
func (s Settings) concernsBoards() bool {
	return s.Labels != nil || s.Selector != "" || s.Objectives.changesNumbers()
}
