package deploy

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards"
)

// TestStorage has the README state what the rules come to.
func TestStorage(t *testing.T) {
	s, err := Needs(dashboards.FS())
	must(t, err)
	text, err := fs.ReadFile(dashboards.FS(), "README.md")
	must(t, err)
	readme := strings.Join(strings.Fields(string(text)), " ")
	days, perMonth := s.Period.Hours()/24, float64(s.PerDay)*s.Period.Hours()/24*1000
	for _, want := range []string{
		fmt.Sprintf("`--storage.tsdb.retention.time=%.0fd`", s.Retention.Hours()/24),
		fmt.Sprintf("record %d,000 series", s.Series),
		fmt.Sprintf("%d,000 samples a minute", s.PerDay/(24*60)),
		fmt.Sprintf("%.1f billion in %.0f days", perMonth/1e9, days),
		fmt.Sprintf("%.1f GB at %d bytes a sample", perMonth*BytesPerSample/1e9, BytesPerSample),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md does not say: %s", want)
		}
	}
	t.Logf("%+v", s)
}

func TestSeriesOf(t *testing.T) {
	for record, want := range map[string]int{
		"job_resource:a:b": 1, "job_resource_le:a:b": 9, "job_resource_reason:a:b": 4,
		"job_lock_node:a:b": 0, "resource:a:b": 0, "": 0,
	} {
		if have := seriesOf(record); have != want {
			t.Errorf("%s: %d, want %d", record, have, want)
		}
	}
}
