package exporter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/lockscope/lockscope/exporter"
)

type reload exporter.Reload

func (r reload) Reload() exporter.Reload { return exporter.Reload(r) }

func TestReloadCollector(t *testing.T) {
	c := exporter.NewReloadCollector(reload{Successful: false, LastSuccess: time.Unix(1700000000, 0)})
	want := `# HELP distributed_lock_scanner_config_last_reload_success_timestamp_seconds ` +
		`Time when the configuration in use was read, in seconds since 1970; 0 before the first.
# TYPE distributed_lock_scanner_config_last_reload_success_timestamp_seconds gauge
distributed_lock_scanner_config_last_reload_success_timestamp_seconds 1.7e+09
# HELP distributed_lock_scanner_config_last_reload_successful ` +
		`1 if the last reload of the configuration succeeded; 0 if it failed and the previous one is in use.
# TYPE distributed_lock_scanner_config_last_reload_successful gauge
distributed_lock_scanner_config_last_reload_successful 0
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
