package compose_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const configFlag = "--config.file"

// check runs a program that must find nothing wrong.
func check(t *testing.T, bin string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), bin, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v\n%s", filepath.Base(bin), args, err, out)
	}
	return string(out)
}

// inContainer copies what is mounted into a service to a directory, and returns what
// turns the container's paths into those below it.
func inContainer(t *testing.T, svc service) *strings.Replacer {
	t.Helper()
	dir := t.TempDir()
	var pairs []string
	for _, m := range svc.mounts(t) {
		here := filepath.Join(dir, m.target)
		pairs = append(pairs, m.target, here)
		info, err := os.Stat(m.source)
		switch {
		case m.volume:
			must(t, os.MkdirAll(here, 0o755))
		case err != nil:
			t.Fatal(err)
		case info.IsDir():
			must(t, os.CopyFS(here, os.DirFS(m.source)))
		default:
			write(t, here, read(t, m.source))
		}
	}
	return strings.NewReplacer(pairs...)
}

var ruleFiles = regexp.MustCompile(`(?m)^  - (/\S+)$`)

// prometheusHere is the configuration of Prometheus with the rules it is given, out
// of the container, and where it lies.
func prometheusHere(t *testing.T, s stack) string {
	t.Helper()
	svc := s.Services["prometheus"]
	here := inContainer(t, svc)
	text := svc.file(t, svc.flag(t, configFlag))
	for _, m := range ruleFiles.FindAllStringSubmatch(text, -1) {
		if found, err := filepath.Glob(here.Replace(m[1])); err != nil || len(found) != 3 {
			t.Fatalf("rules at %s: %q, %v", m[1], found, err)
		}
	}
	path := here.Replace(svc.flag(t, configFlag))
	write(t, path, ruleFiles.ReplaceAllStringFunc(text, here.Replace))
	return path
}

func TestPrometheusConfig(t *testing.T) {
	out := check(t, debian(t, "promtool"), "check", "config", prometheusHere(t, loadStack(t)))
	if strings.Count(out, "rules found") != 3 || !strings.Contains(out, "3 rule files found") {
		t.Errorf("promtool saw other rules:\n%s", out)
	}
}

func TestAlertmanagerConfig(t *testing.T) {
	svc := loadStack(t).Services["alertmanager"]
	path := svc.onHost(t, svc.flag(t, configFlag))
	out := check(t, debian(t, "amtool"), "check-config", path)
	inhibited := fmt.Sprintf(" %d inhibit rules", strings.Count(read(t, path), "target_matchers:"))
	if !strings.Contains(out, inhibited) || inhibited < " 1" || !strings.Contains(out, "2 receivers") {
		t.Errorf("amtool:\n%s", out)
	}
	for _, secret := range []string{"password", "api_key", "api_url", "token", "hooks.slack"} {
		if strings.Contains(read(t, path), secret) {
			t.Errorf("the configuration wants a secret: %s", secret)
		}
	}
}

// tempo is as much of Tempo's configuration as tempo.yaml uses.
type tempo struct {
	Server struct {
		HTTPListenPort string `yaml:"http_listen_port"`
		LogLevel       string `yaml:"log_level"`
	} `yaml:"server"`
	Distributor struct {
		Receivers struct {
			OTLP struct {
				Protocols struct {
					HTTP struct {
						Endpoint string `yaml:"endpoint"`
					} `yaml:"http"`
				} `yaml:"protocols"`
			} `yaml:"otlp"`
		} `yaml:"receivers"`
	} `yaml:"distributor"`
	Storage struct {
		Trace struct {
			Backend string     `yaml:"backend"`
			WAL     tempoFiles `yaml:"wal"`
			Local   tempoFiles `yaml:"local"`
		} `yaml:"trace"`
	} `yaml:"storage"`
	UsageReport struct {
		ReportingEnabled *bool `yaml:"reporting_enabled"`
	} `yaml:"usage_report"`
	Overrides struct {
		Defaults struct {
			Compaction struct {
				BlockRetention string `yaml:"block_retention"`
			} `yaml:"compaction"`
		} `yaml:"defaults"`
	} `yaml:"overrides"`
}

type tempoFiles struct {
	Path string `yaml:"path"`
}

func loadTempo(t *testing.T, s stack) tempo {
	t.Helper()
	var c tempo
	svc := s.Services["tempo"]
	decode(t, svc.file(t, svc.flag(t, "-config.file")), &c)
	return c
}

func (c tempo) listens() []string {
	_, otlp, _ := strings.Cut(c.Distributor.Receivers.OTLP.Protocols.HTTP.Endpoint, "0.0.0.0:")
	return []string{c.Server.HTTPListenPort, otlp}
}

func TestTempoConfig(t *testing.T) {
	s := loadStack(t)
	c := loadTempo(t, s)
	for _, path := range []string{c.Storage.Trace.WAL.Path, c.Storage.Trace.Local.Path} {
		inVolume := false
		for _, m := range s.Services["tempo"].mounts(t) {
			inVolume = inVolume || m.volume && strings.HasPrefix(path, m.target+"/")
		}
		if !inVolume {
			t.Errorf("%s is not in a volume", path)
		}
	}
	if c.Storage.Trace.Backend != "local" || c.UsageReport.ReportingEnabled == nil || *c.UsageReport.ReportingEnabled {
		t.Errorf("%+v", c)
	}
}
