package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Boards has the settings of the dashboards.
type Boards struct {
	// Top is how many of the largest resources, processes or nodes a chart or list shows.
	Top int `yaml:"top"`
	// PageURL is the address of a process's live page. {job}, {instance} and the configured labels stand for
	// the labels of its metrics.
	PageURL string `yaml:"page_url"`
	// LogSelector selects the Loki streams that the resource dashboard searches. If it is empty, the dashboard
	// has no logs.
	LogSelector string `yaml:"log_selector"`
}

func defaultBoards() Boards {
	return Boards{Top: 10, PageURL: "http://{instance}/debug/locks", LogSelector: `{service_name=~".+"}`}
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// Page returns PageURL with Grafana's variables for the fields of a table.
func (b Boards) Page() string { return placeholder.ReplaceAllString(b.PageURL, "$${__data.fields.$1}") }

// PageLabels returns the labels in PageURL.
func (b Boards) PageLabels() (names []string) {
	for _, m := range placeholder.FindAllStringSubmatch(b.PageURL, -1) {
		names = append(names, m[1])
	}
	return names
}

func (b Boards) problems() (bad []error) {
	if b.Top < 1 {
		bad = append(bad, fmt.Errorf("boards: top: %d: want 1 or more", b.Top))
	}
	web := strings.HasPrefix(b.PageURL, "http://") || strings.HasPrefix(b.PageURL, "https://")
	if rest := placeholder.ReplaceAllString(b.PageURL, ""); !web || strings.Contains(rest, "{") {
		bad = append(bad, fmt.Errorf(
			"boards: page_url: %s: want an address with {instance}, {job} or one of the labels", b.PageURL))
	}
	if s := b.LogSelector; s != "" && (!strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}")) {
		bad = append(bad, errors.New(`boards: log_selector: want {...}, such as {app="billing"}`))
	}
	return bad
}
