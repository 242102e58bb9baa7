// Package deploy makes what a Prometheus and a Grafana are given out of the shipped rules and
// dashboards: with the labels, objectives and addresses of a fleet, and as files, as manifests of
// Kubernetes or as a mixin.
//
// Expressions are changed in their syntax trees, by the parser of Prometheus. What the module in
// dashboards/gen makes of the same configuration is the same, without a need for Go.
package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
)

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

// File is one that is to be written: a path with slashes, and its text.
type File struct {
	Path string
	Text []byte
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Check names every setting that cannot work.
func (s Settings) Check() error {
	errs := []error{address("--runbook-url", s.RunbookURL), address("--grafana-url", s.GrafanaURL), s.Objectives.check()}
	for i, l := range s.Labels {
		if !labelName.MatchString(l) || slices.Contains(s.Labels[:i], l) || slices.Contains([]string{"job", "instance", labels.MetricName}, l) {
			errs = append(errs, fmt.Errorf("--labels %s: want names of labels beside job and instance, such as cluster,namespace", l))
		}
	}
	_, err := s.matchers()
	return errors.Join(append(errs, err)...)
}

func address(flag, text string) error {
	u, err := url.Parse(text)
	if text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" || strings.ContainsAny(text, " '\"{}")) {
		return fmt.Errorf("%s %s: want an address such as https://grafana.example.com", flag, text)
	}
	return nil
}

// Files returns the files of a deployment, in the order of their paths. The folders are those of
// dashboards.FS. A file that the settings do not concern is returned as it is.
func Files(shipped fs.FS, s Settings, f Format) ([]File, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var all []File
	err := fs.WalkDir(shipped, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(shipped, name)
		if err != nil {
			return err
		}
		if text, err = s.fill(name, text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, File{name, text})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.pack(all)
}

func (s Settings) fill(name string, text []byte) ([]byte, error) {
	switch dir := path.Dir(name); {
	case dir == "rules" || dir == "kubernetes":
		return s.rules(text)
	case dir == "alertmanager":
		return s.alertmanager(text)
	case dir == "grafana" && s.concernsBoards():
		return s.board(text)
	default:
		return text, nil
	}
}

func (s Settings) concernsBoards() bool {
	return s.Labels != nil || s.Selector != "" || s.Objectives.changesNumbers()
}
