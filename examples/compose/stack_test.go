package compose_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// stack is what the tests read of compose.yaml.
type stack struct {
	Services map[string]service
	Volumes  map[string]any

	Nodes string  `yaml:"x-nodes"`
	Redis service `yaml:"x-redis"`
}

type service struct {
	Image string
	Build *struct {
		Context, Dockerfile, Target string
	}
	Command     []string
	Environment map[string]string
	Volumes     []string
	Ports       []string
	DependsOn   map[string]dependency `yaml:"depends_on"`
	Healthcheck *struct{ Test []string }
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
}

type dependency struct{ Condition string }

func loadStack(t *testing.T) stack {
	t.Helper()
	var s stack
	must(t, yaml.Unmarshal([]byte(read(t, "compose.yaml")), &s))
	return s
}

// mount is a file or directory of the repository, or a volume, in a container.
type mount struct {
	source, target string
	volume         bool
	readOnly       bool
}

func (s service) mounts(t *testing.T) (all []mount) {
	t.Helper()
	for _, text := range s.Volumes {
		parts := strings.Split(text, ":")
		if len(parts) < 2 || len(parts) > 3 || (len(parts) == 3 && parts[2] != "ro") {
			t.Fatalf("volume %q", text)
		}
		all = append(all, mount{parts[0], parts[1], !strings.HasPrefix(parts[0], "."), len(parts) == 3})
	}
	return all
}

// onHost is where in the repository a path in a container comes from; empty if it
// comes from the image or from a volume.
func (s service) onHost(t *testing.T, path string) string {
	t.Helper()
	for _, m := range s.mounts(t) {
		if rest, ok := strings.CutPrefix(path, m.target); ok && !m.volume &&
			(rest == "" || strings.HasPrefix(rest, "/")) {
			return filepath.Join(m.source, rest)
		}
	}
	return ""
}

// file reads a file that a container is told to read.
func (s service) file(t *testing.T, path string) string {
	t.Helper()
	host := s.onHost(t, path)
	if host == "" {
		t.Fatalf("nothing is mounted at %s", path)
	}
	return read(t, host)
}

// flag returns the value of a flag written name=value.
func (s service) flag(t *testing.T, name string) string {
	t.Helper()
	for _, arg := range s.Command {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	t.Fatalf("no %s in %q", name, s.Command)
	return ""
}

// own are the services that are built here.
func (s stack) own() map[string]service {
	own := make(map[string]service)
	for name, svc := range s.Services {
		if svc.Build != nil {
			own[name] = svc
		}
	}
	return own
}

var (
	tempoPort  = regexp.MustCompile(`(?m)^ +(?:http_listen_port: |endpoint: 0\.0\.0\.0:)(\d+)$`)
	listenFlag = regexp.MustCompile(`^(-\S*listen(?:-address)?)=:(\d+)$`)
)

// listens are the ports a service listens on, as its flags say, or else as the
// defaults of its image are.
func (s stack) listens(t *testing.T, name string) (ports []string) {
	t.Helper()
	svc := s.Services[name]
	for _, arg := range svc.Command {
		if m := listenFlag.FindStringSubmatch(arg); m != nil {
			ports = append(ports, m[2])
		}
	}
	image, _, _ := strings.Cut(svc.Image, ":")
	switch image {
	case "redis":
		return []string{"6379"}
	case "prom/prometheus":
		return []string{"9090"}
	case "prom/alertmanager":
		return []string{"9093"}
	case "grafana/grafana":
		return []string{"3000"}
	case "grafana/tempo":
		for _, m := range tempoPort.FindAllStringSubmatch(read(t, "tempo.yaml"), -1) {
			ports = append(ports, m[1])
		}
	}
	return ports
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
