package config

import (
	"errors"
	"fmt"
	"strings"
)

// Boards is what dashboards need to know beside the rules.
type Boards struct {
	// Top is how many resources, processes or nodes a chart or a list shows, the largest ones.
	Top int `yaml:"top"`
	// PageURL is the live page of a process; {job}, {instance} and the configured labels
	// stand for those of its metrics.
	PageURL string `yaml:"page_url"`
	// LogSelector chooses the streams of Loki that the resource dashboard searches. Without it
	// that dashboard has no logs.
	LogSelector string `yaml:"log_selector"`
}

func defaultBoards() Boards {
	return Boards{Top: 10, PageURL: "http://{instance}/debug/locks", LogSelector: `{service_name=~".+"}`}
}

// Page is the address of the live page with Grafana's variables for the fields of a table.
func (c Config) Page() string {
	url := c.Boards.PageURL
	for _, label := range append([]string{"job", "instance"}, c.Labels...) {
		url = strings.ReplaceAll(url, "{"+label+"}", "${__data.fields."+label+"}")
	}
	return url
}

func (c Config) boardProblems() (bad []error) {
	if c.Boards.Top < 1 {
		bad = append(bad, fmt.Errorf("boards: top: %d; want 1 or more", c.Boards.Top))
	}
	if url := c.Page(); !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") ||
		strings.Contains(strings.ReplaceAll(url, "${", ""), "{") {
		bad = append(bad, fmt.Errorf("boards: page_url: %s; want an address with {instance}, {job} or one of the labels", c.Boards.PageURL))
	}
	if s := c.Boards.LogSelector; s != "" && (!strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}")) {
		bad = append(bad, errors.New(`boards: log_selector: want {...}, such as {app="billing"}`))
	}
	return bad
}
