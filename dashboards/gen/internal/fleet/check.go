package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check returns an error that names every invalid value.
func (f Fleet) Check() error {
	return errors.Join(f.Config().Check(), f.written(), f.Settings().Check(), f.page())
}

// written checks values that a file must have. In Settings, empty or 0 means the default.
func (f Fleet) written() error {
	var bad []error
	for name, share := range map[string]float64{"availability": f.SLO.Availability, "wait": f.SLO.Wait} {
		if share == 0 {
			bad = append(bad, fmt.Errorf("slo: %s: 0 is not between 0 and 1", name))
		}
	}
	if f.SLO.WithinSeconds == 0 {
		bad = append(bad, errors.New("slo: within_seconds: 0 is not a bucket of distributed_lock_wait_seconds"))
	}
	if f.RunbookURL == "" {
		bad = append(bad, errors.New("runbook_url: empty"))
	}
	if strings.HasSuffix(f.RunbookURL, "/") || strings.HasSuffix(f.DashboardURL, "/") {
		bad = append(bad, errors.New("runbook_url and dashboard_url must not end in /"))
	}
	return errors.Join(bad...)
}

// page checks that the address of the live page uses only labels that processes have.
func (f Fleet) page() error {
	known := append([]string{"job", "instance"}, f.Labels...)
	for _, name := range f.Boards.PageLabels() {
		if !slices.Contains(known, name) {
			return fmt.Errorf("boards: page_url: %s: {%s} is none of %s", f.Boards.PageURL, name,
				strings.Join(known, ", "))
		}
	}
	return nil
}
