package compose_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	pinned    = regexp.MustCompile(`^[a-z]+(/[a-z]+)?:v?\d+\.\d+\.\d+(-alpine)?$`)
	published = regexp.MustCompile(`^127\.0\.0\.1:(\d+):(\d+)$`)
)

func TestServices(t *testing.T) {
	s := loadStack(t)
	dockerfile := read(t, "Dockerfile")
	for name, svc := range s.Services {
		t.Run(name, func(t *testing.T) {
			if (svc.Image == "") == (svc.Build == nil) {
				t.Error("either an image or a build")
			}
			if svc.Image != "" && !pinned.MatchString(svc.Image) {
				t.Errorf("image %q is not of one exact version", svc.Image)
			}
			if b := svc.Build; b != nil && (b.Context != root || b.Dockerfile != "examples/compose/Dockerfile" ||
				!strings.Contains(dockerfile, " AS "+b.Target+"\n")) {
				t.Errorf("build %+v", *b)
			}
			if svc.Build != nil && (!svc.ReadOnly || !slices.Equal(svc.CapDrop, []string{"ALL"}) ||
				!slices.Equal(svc.SecurityOpt, []string{"no-new-privileges:true"})) {
				t.Error("it may do more than it needs")
			}
			checkMounts(t, s, svc)
			checkDependencies(t, s, svc)
		})
	}
}

func checkMounts(t *testing.T, s stack, svc service) {
	t.Helper()
	seen := make(map[string]bool)
	for _, m := range svc.mounts(t) {
		_, declared := s.Volumes[m.source]
		switch {
		case m.volume && !declared:
			t.Errorf("volume %s is not declared", m.source)
		case !m.volume && !exists(m.source):
			t.Errorf("%s does not exist: the engine would make a directory of it", m.source)
		case !m.volume && !m.readOnly:
			t.Errorf("%s may be written", m.source)
		case seen[m.target]:
			t.Errorf("two mounts at %s", m.target)
		}
		seen[m.target] = true
	}
}

func checkDependencies(t *testing.T, s stack, svc service) {
	t.Helper()
	for name, d := range svc.DependsOn {
		other, ok := s.Services[name]
		switch {
		case !ok:
			t.Errorf("depends on %s, which there is not", name)
		case d.Condition == "service_healthy" && other.Healthcheck == nil:
			t.Errorf("%s never becomes healthy: it has no healthcheck", name)
		case d.Condition == "service_completed_successfully" && name == "init":
		case d.Condition != "service_healthy" && d.Condition != "service_started":
			t.Errorf("condition %q", d.Condition)
		}
	}
}

// TestPorts: each is free of the others, on the loopback interface, and leads to one
// that the container listens on.
func TestPorts(t *testing.T) {
	s := loadStack(t)
	taken := make(map[string]string)
	for name, svc := range s.Services {
		for _, text := range svc.Ports {
			m := published.FindStringSubmatch(text)
			if m == nil {
				t.Errorf("%s: %q is not on the loopback interface", name, text)
				continue
			}
			if other := taken[m[1]]; other != "" {
				t.Errorf("%s and %s both publish %s", name, other, m[1])
			}
			taken[m[1]] = name
			if listens := s.listens(t, name); !slices.Contains(listens, m[2]) {
				t.Errorf("%s listens on %v, not on %s", name, listens, m[2])
			}
		}
	}
	if len(taken) != 8 {
		t.Errorf("%d ports: %v", len(taken), taken)
	}
}

var address = regexp.MustCompile(`([a-z][a-z0-9-]*):(\d{4,5})\b`)

// TestAddresses looks up every host:port that a file of the stack names.
func TestAddresses(t *testing.T) {
	s := loadStack(t)
	files := []string{"compose.yaml", "prometheus.yml", "tempo.yaml", "grafana/tempo.yaml",
		s.Services["grafana"].onHost(t, "/etc/grafana/provisioning/datasources/prometheus.yaml")}
	found := make(map[string]bool)
	for _, path := range files {
		for _, m := range address.FindAllStringSubmatch(read(t, path), -1) {
			host, port := m[1], m[2]
			if host == "localhost" { // Prometheus, which scrapes itself
				host = "prometheus"
			}
			found[host] = true
			if _, ok := s.Services[host]; !ok {
				t.Errorf("%s: %s: no such service", path, m[0])
			} else if listens := s.listens(t, host); !slices.Contains(listens, port) {
				t.Errorf("%s: %s: it listens on %v", path, m[0], listens)
			}
		}
	}
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Services)),
		func(name string) bool { return name == "grafana" || name == "load" || name == "init" })
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("addresses of %v were found, not of %v", got, want)
	}
}

// TestFlags has the programs parse their flags. Asking for help comes after parsing
// and before anything is done.
func TestFlags(t *testing.T) {
	s := loadStack(t)
	for name, svc := range s.own() {
		bin := programs + svc.Build.Target
		if o := run(t, bin, append(slices.Clone(svc.Command), "-h")...); o.status != 0 {
			t.Errorf("%s: %s %q: exit %d\n%s", name, svc.Build.Target, svc.Command, o.status, o.err)
		}
		if o := run(t, bin, append(slices.Clone(svc.Command), "--no-such-flag", "-h")...); o.status == 0 {
			t.Errorf("%s would not mind a flag that is misspelt", name)
		}
	}
	if len(s.own()) != 5 {
		t.Errorf("%d services are built here", len(s.own()))
	}
}

// TestRedlock: the two services and lockscope see the same five nodes, and there are
// no others.
func TestRedlock(t *testing.T) {
	s := loadStack(t)
	var urls []string
	for name, svc := range s.Services {
		if strings.HasPrefix(svc.Image, "redis:") {
			urls = append(urls, "redis://"+name+":6379")
			for _, waits := range []string{"orders-1", "orders-2", "init", "lockscope"} {
				if d := s.Services[waits].DependsOn[name]; d.Condition != "service_healthy" {
					t.Errorf("%s does not wait for %s", waits, name)
				}
			}
		}
	}
	slices.Sort(urls)
	if got := strings.Join(urls, ","); len(urls) != 5 || got != s.Nodes {
		t.Errorf("%q, not %q", got, s.Nodes)
	}
	for _, locks := range []string{"orders-1", "orders-2"} {
		if d := s.Services[locks].DependsOn["init"]; d.Condition != "service_completed_successfully" {
			t.Errorf("%s may lock before the nodes are vouched for", locks)
		}
	}
	for name, variable := range map[string]string{
		"orders-1": "REDIS_URLS", "orders-2": "REDIS_URLS", "lockscope": "LOCKSCOPE_REDIS", "init": "LOCKSCOPE_REDIS",
	} {
		if got := s.Services[name].Environment[variable]; got != s.Nodes {
			t.Errorf("%s: %s=%q", name, variable, got)
		}
	}
}
