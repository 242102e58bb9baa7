package lock_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lockscope/lockscope/"

// TestImports keeps the arrows of the house: drivers need the engine, the engine needs
// no driver, and nobody who locks has to carry telemetry.
func TestImports(t *testing.T) {
	for _, room := range []struct {
		path    string
		allowed []string // of what is not the standard library's
	}{
		{"lock/driver", nil},
		{"lock", []string{module + "lock/driver", "golang.org/x/sys/"}},
		{"lock/decorate", []string{module + "lock", module + "lock/driver", "golang.org/x/sys/"}},
		{"lock/internal/memstate", []string{module + "lock/driver"}},
		{"lock/redlock/redisinfo", nil},
		{"lock/redlock/hashslot", nil},
		{"lock/redlock/guard", []string{module + "lock/driver", module + "lock/redlock/redisinfo"}},
		{"lock/memlock", []string{module + "lock", module + "lock/driver", module + "lock/internal/memstate", "golang.org/x/sys/"}},
		{"lock/redlock", []string{
			module + "lock", module + "lock/driver", module + "lock/redlock/guard", module + "lock/redlock/redisinfo", module + "lock/redlock/redisconn",
			module + "lock/redlock/hashslot", module + "lock/redlock/internal/cluster", module + "lock/redlock/internal/dial",
			module + "lock/redlock/internal/lanes", module + "lock/redlock/internal/scripts",
			module + "lock/redlock/internal/standalone", module + "lock/redlock/internal/wakeup",
			"golang.org/x/sys/", "github.com/redis/go-redis/v9",
			// What go-redis itself needs.
			"github.com/cespare/xxhash/v2", "github.com/dgryski/go-rendezvous", "go.uber.org/atomic", "github.com/klauspost/cpuid/v2",
		}},
	} {
		t.Run(room.path, func(t *testing.T) {
			deps := dependencies(t, module+room.path)
			if !slices.Contains(deps, module+room.path) {
				t.Fatalf("go list names %d packages, not this one: the check looks at nothing", len(deps))
			}
			for _, path := range deps {
				if path != module+room.path && !slices.ContainsFunc(room.allowed, func(allowed string) bool { return covers(allowed, path) }) {
					t.Errorf("%s needs %s", room.path, path)
				}
			}
		})
	}
}

// covers reports that path is allowed: exactly, or below a module that is not ours.
func covers(allowed, path string) bool {
	return path == allowed || !strings.HasPrefix(allowed, module) && strings.HasPrefix(path, allowed)
}

func dependencies(t *testing.T, path string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", path).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	return strings.Fields(string(out))
}
