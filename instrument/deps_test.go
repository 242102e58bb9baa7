package instrument_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports keeps packages that serve and export out of packages that measure.
func TestImports(t *testing.T) {
	direct := list(t, "{{range .Imports}}{{.}} {{end}}")
	for _, path := range direct {
		std := !strings.Contains(strings.Split(path, "/")[0], ".")
		if std || strings.HasPrefix(path, "github.com/lockscope/lockscope/instrument/internal/") ||
			slices.Contains([]string{
				"github.com/lockscope/lockscope/lock",
				"github.com/lockscope/lockscope/lock/decorate",
				"github.com/lockscope/lockscope/lock/driver",
				"github.com/lockscope/lockscope/lock/locktrace",
				"github.com/lockscope/lockscope/lock/outage",         // what it reports
				"github.com/lockscope/lockscope/lock/engine/records", // names of slots
				"github.com/prometheus/client_golang/prometheus",
				"go.opentelemetry.io/otel",
				"go.opentelemetry.io/otel/attribute",
				"go.opentelemetry.io/otel/codes",
				"go.opentelemetry.io/otel/propagation",
				"go.opentelemetry.io/otel/semconv/v1.43.0",
				"go.opentelemetry.io/otel/trace",
				"go.opentelemetry.io/otel/trace/noop",
			}, path) {
			continue
		}
		t.Errorf("package instrument imports %s: measure here, serve in exporter", path)
	}
	deps := list(t, "{{range .Deps}}{{.}} {{end}}")
	for _, path := range deps {
		for _, banned := range []string{"go.opentelemetry.io/otel/sdk",
			"github.com/prometheus/client_golang/prometheus/promhttp", "net/http/pprof", "github.com/redis/go-redis"} {
			if strings.HasPrefix(path, banned) {
				t.Errorf("package instrument needs %s", path)
			}
		}
	}
	if len(direct) < 5 || len(deps) < len(direct) {
		t.Errorf("%d imports, %d dependencies: the check looks at nothing", len(direct), len(deps))
	}
}

func list(t *testing.T, format string) []string {
	out, err := exec.Command("go", "list", "-f", format, "./...").Output()
	must(t, err)
	return strings.Fields(string(out))
}
