package lock_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lockscope/lockscope/"

// TestImports keeps the dependencies one-way: the contract needs the standard library alone, drivers need the engine,
// the engine needs no driver, and no caller of a lock has to import telemetry.
func TestImports(t *testing.T) {
	// Packages that only lock, lock/engine and the constructs share. Nobody else can import them.
	carried := []string{module + "lock/internal/carried", module + "lock/internal/text"}
	contract := slices.Concat(carried, []string{module + "lock"})
	traced := append(slices.Clone(contract), module+"lock/locktrace")
	needed := slices.Concat(traced, []string{ // by the engine
		module + "lock/driver", module + "lock/engine/records", "golang.org/x/sys/",
	})
	inner := func(below []string, packages ...string) []string {
		all := slices.Clone(below)
		for _, pkg := range packages {
			all = append(all, module+"lock/engine/internal/"+pkg)
		}
		return all
	}
	ballots := inner(needed, "clock")
	nodes := append(inner(ballots, "ballot", "await", "callqueue", "hooks", "workers"), module+"lock/internal/spare")
	attempts := inner(nodes, "nodes")
	queues := inner(attempts, "attempt", "deadlock")
	leases := inner(queues, "queue")
	contests := inner(leases, "lease")
	needed = append(inner(needed, "attempt", "await", "ballot", "callqueue", "clock", "contest", "deadlock", "hooks", "lease",
		"nodes", "question", "queue", "workers"), module+"lock/internal/spare")
	goRedis := []string{"github.com/redis/go-redis/v9",
		// Its dependencies.
		"github.com/cespare/xxhash/v2", "github.com/dgryski/go-rendezvous", "go.uber.org/atomic",
		"github.com/klauspost/cpuid/v2", "golang.org/x/sys/",
	}
	for _, pkg := range []struct {
		path    string
		allowed []string // besides the standard library
	}{
		{"lock/driver", nil},
		{"lock", carried},
		{"lock/locktrace", contract},
		{"lock/decorate", append(slices.Clone(traced), module+"lock/driver")}, // the classes of a node's errors
		{"lock/semaphore", append(slices.Clone(contract), module+"lock/engine/records")},
		{"lock/rwlock", contract},
		{"lock/engine/records", contract},
		{"lock/fencing", contract},
		{"lock/fencing/redisfence", slices.Concat(contract, goRedis, []string{module + "lock/fencing",
			module + "lock/redlock/hashslot"})},
		{"lock/engine", needed},
		{"lock/engine/internal/ballot", ballots},
		{"lock/engine/internal/nodes", nodes},
		{"lock/engine/internal/attempt", attempts},
		{"lock/engine/internal/question", attempts},
		{"lock/engine/internal/queue", queues},
		{"lock/engine/internal/lease", leases},
		{"lock/engine/internal/contest", contests},
		{"lock/engine/internal/await", contract},
		{"lock/engine/internal/callqueue", nil},
		{"lock/engine/internal/clock", []string{"golang.org/x/sys/"}},
		{"lock/engine/internal/deadlock", contract},
		{"lock/engine/internal/hooks", traced},
		{"lock/engine/internal/workers", []string{module + "lock/internal/spare"}},
		{"lock/waitgraph", slices.Concat(contract, []string{module + "lock/engine/records"})},
		{"lock/internal/spare", nil},
		{"lock/driver/claimlist", []string{module + "lock/driver"}},
		{"lock/driver/inspect", append(slices.Clone(contract), module+"lock/engine/records",
			module+"lock/driver")},
		{"lock/internal/memstate", []string{module + "lock/driver"}},
		{"lock/redlock/redisinfo", nil},
		{"lock/redlock/hashslot", nil},
		{"lock/redlock/guard", []string{module + "lock/driver", module + "lock/redlock/redisinfo"}},
		{"lock/memlock", slices.Concat(needed, []string{module + "lock/engine", module + "lock/internal/memstate"})},
		{"lock/redlock", slices.Concat(needed, goRedis, []string{
			module + "lock/engine", module + "lock/redlock/guard", module + "lock/redlock/redisinfo", module +
				"lock/redlock/redisconn",
			module + "lock/redlock/hashslot", module + "lock/redlock/internal/cluster", module +
				"lock/redlock/internal/dial",
			module + "lock/redlock/internal/lanes", module + "lock/redlock/internal/scripts",
			module + "lock/redlock/internal/standalone", module + "lock/redlock/internal/wakeup",
		})},
	} {
		t.Run(pkg.path, func(t *testing.T) {
			deps := dependencies(t, module+pkg.path)
			if !slices.Contains(deps, module+pkg.path) {
				t.Fatalf("go list names %d packages, not this one: the check looks at nothing", len(deps))
			}
			for _, path := range deps {
				if path != module+pkg.path && !slices.ContainsFunc(pkg.allowed,
					func(allowed string) bool { return covers(allowed, path) }) {
					t.Errorf("%s needs %s", pkg.path, path)
				}
			}
		})
	}
}

// covers reports whether path is allowed: exactly, or below an allowed module of others.
func covers(allowed, path string) bool {
	return path == allowed || !strings.HasPrefix(allowed, module) && strings.HasPrefix(path, allowed)
}

func dependencies(t *testing.T, path string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		path).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	return strings.Fields(string(out))
}
