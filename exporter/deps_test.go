package exporter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/lockscope/lockscope/"

// arrow lists the packages of lockscope that the packages below a folder may import, and the packages of others that
// they must not.
type arrow struct {
	folder string
	may    []string
	not    []string
}

var arrows = []arrow{
	{"lock", []string{"lock"}, []string{"go.opentelemetry.io/", "github.com/prometheus/"}},
	{"lock/etcdlock/internal/store", []string{"lock/etcdlock/internal/store", "lock/driver/claimlist", "lock/driver"}, nil},
	{"lock/etcdlock/internal/claims", []string{"lock/etcdlock/internal/store", "lock/etcdlock/internal/claims",
		"lock/driver/claimlist", "lock/driver"}, nil},
	{"lock/contrib/zklock/internal/store", []string{"lock/contrib/zklock/internal/store", "lock/driver/claimlist",
		"lock/driver"}, nil},
	{"lock/contrib/zklock/internal/claims", []string{"lock/contrib/zklock/internal/store",
		"lock/contrib/zklock/internal/claims", "lock/driver/claimlist", "lock/driver"}, nil},
	{"scanner", []string{"scanner", "lock"}, []string{"go.opentelemetry.io/", "github.com/prometheus/"}},
	{"scanner/internal/keyreader", []string{"scanner/internal/keyreader", "scanner/internal/node", "lock/driver",
		"lock/redlock/redisconn", "lock/redlock/redisinfo", "lock/redlock/hashslot"}, nil},
	{"scanner/internal/node", []string{"scanner/internal/node", "lock/driver", "lock/redlock/redisconn",
		"lock/redlock/redisinfo", "lock/redlock/hashslot"}, nil},
	{"instrument", []string{"instrument", "lock"},
		[]string{"go.opentelemetry.io/otel/sdk", "github.com/prometheus/client_golang/prometheus/promhttp"}},
	{"exporter", []string{"exporter", "instrument", "scanner", "lock"}, []string{"github.com/jackc/", "go.etcd.io/",
		"github.com/go-zookeeper/", "github.com/spf13/cobra", "charm.land/", "github.com/prometheus/prometheus"}},
	{"exporter/cmd/lockscope", []string{"exporter", "instrument", "scanner", "lock", "dashboards"}, nil},
	{"dashboards", []string{"dashboards"}, []string{"github.com/redis/"}},
	{"examples", []string{"examples", "exporter", "instrument", "scanner", "lock"}, nil},
	{"examples/fencing", []string{"examples", "lock"}, []string{"go.opentelemetry.io/", "github.com/prometheus/"}},
}

// TestArrows keeps the dependencies one-way: examples -> exporter -> instrument -> lock <- scanner <- exporter. A
// program that only locks, or only looks for leaks, carries no telemetry.
func TestArrows(t *testing.T) {
	contrib, err := filepath.Glob("../lock/contrib/*/go.mod")
	if err != nil || len(contrib) == 0 {
		t.Fatalf("%d modules in lock/contrib, %v", len(contrib), err)
	}
	all := arrows
	for _, name := range contrib {
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
		all = append(all, arrow{folder, []string{"lock"}, []string{"go.opentelemetry.io/", "github.com/prometheus/"}})
	}
	for _, a := range all {
		packages := listDeps(t, "../"+a.folder, "./...")
		if len(packages) == 0 {
			t.Errorf("%s: no package: the check looks at nothing", a.folder)
		}
		for path, deps := range packages {
			for _, dep := range deps {
				if inner, ok := strings.CutPrefix(dep, module); ok && !below(inner, a.may) {
					t.Errorf("%s needs %s, and may not", path, dep)
				}
				for _, banned := range a.not {
					if strings.HasPrefix(dep, banned) {
						t.Errorf("%s needs %s: measure in instrument, serve in exporter", path, dep)
					}
				}
			}
		}
	}
}

// TestHandlerImports keeps the dependencies of package server, exporter-toolkit among them, out of the handler. A
// template would keep every exported method of a program in its binary: 3 MB.
func TestHandlerImports(t *testing.T) {
	banned := []string{
		"github.com/prometheus/exporter-toolkit", "github.com/prometheus/common/config", "github.com/spf13",
		"go.yaml.in",
		"golang.org/x/crypto", "golang.org/x/oauth2", "github.com/coreos", "google.golang.org/grpc",
		"go.opentelemetry.io/otel/sdk", "html/template",
	}
	for path, deps := range listDeps(t, ".", ".") {
		for _, dep := range deps {
			if below(dep, banned) {
				t.Errorf("%s needs %s: serve in exporter/server", path, dep)
			}
		}
	}
}

func below(path string, folders []string) bool {
	for _, folder := range folders {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

// listDeps returns the dependencies of each package, without its tests. In the folder of another module it lists that
// module.
func listDeps(t *testing.T, folder, pattern string) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-f", "{{.ImportPath}} {{range .Deps}}{{.}} {{end}}", pattern)
	list.Dir = folder
	switch work := "../.tools/release/contrib.work"; {
	case strings.HasPrefix(folder, "../lock/contrib/zklock"): // released with the binary
	case strings.HasSuffix(folder, "/fencing"): // not released, so with its own versions
		list.Env = append(os.Environ(), "GOWORK=off")
	case strings.HasPrefix(folder, "../lock/contrib/"):
		path, err := filepath.Abs(work)
		if err != nil {
			t.Fatal(err)
		}
		list.Env = append(os.Environ(), "GOWORK="+path)
	}
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list %s in %s: %v", pattern, folder, err)
	}
	packages := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		packages[fields[0]] = fields[1:]
	}
	return packages
}
