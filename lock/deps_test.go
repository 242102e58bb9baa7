package lock_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports keeps the lock free of telemetry and of whatever is not needed to
// lock: everything that uses the lock would have to carry it.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	allowed := []string{
		"github.com/lockscope/lockscope/lock",
		"github.com/redis/go-redis/v9",
		"golang.org/x/sys/",
		// What go-redis itself needs.
		"github.com/cespare/xxhash/v2", "github.com/dgryski/go-rendezvous", "go.uber.org/atomic",
		"github.com/klauspost/cpuid/v2",
	}
	seen := 0
	for path := range strings.FieldsSeq(string(out)) {
		seen++
		ok := false
		for _, prefix := range allowed {
			ok = ok || strings.HasPrefix(path, prefix)
		}
		if !ok {
			t.Errorf("package lock imports %s: measure in instrument, serve in exporter", path)
		}
	}
	if seen < 3 {
		t.Errorf("go list named %d packages: the check looks at nothing", seen)
	}
}
