package draw

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// calm keeps panels without a value from the colour of the lowest step, which is often red: no data is not a
// failure.
func calm(text string) *dashboard.SpecialValueMap {
	m := dashboard.NewSpecialValueMap()
	m.Options.Match = dashboard.SpecialValueMatchNullAndNan
	m.Options.Result = dashboard.ValueMappingResult{Text: &text, Color: new("text")}
	return m
}

func (p Panel) dataLinks(links []Link) (all []dashboard.DashboardLink) {
	for _, l := range links {
		url := p.fill.Replace(l.URL)
		all = append(all, dashboard.DashboardLink{Title: l.Title, Url: &url, TargetBlank: l.Away,
			Type: dashboard.DashboardLinkTypeLink, Tags: []string{}})
	}
	return all
}

func thresholds(all []Step) *dashboard.ThresholdsConfig {
	if len(all) == 0 {
		all = Steps(Green)
	}
	c := &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute}
	for i, s := range all {
		t := dashboard.Threshold{Color: s.color}
		if i > 0 {
			t.Value = &s.from
		}
		c.Steps = append(c.Steps, t)
	}
	return c
}
