package cron_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unit reads a unit file: its settings by section and name, in order.
func unit(t *testing.T, path string) map[string][]string {
	t.Helper()
	settings := make(map[string][]string)
	section := ""
	for line := range strings.Lines(read(t, path)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || section == "" {
			t.Errorf("%s: %q", path, line)
		}
		settings[section+"."+name] = append(settings[section+"."+name], value)
	}
	return settings
}

func TestSystemd(t *testing.T) {
	service := unit(t, "systemd/lockscope-scan.service")
	command := strings.Fields(service["Service.ExecStart"][0])
	if command[0] != "/usr/local/bin/lockscope" || service["Service.Type"][0] != "oneshot" ||
		service["Service.DynamicUser"][0] != "yes" {
		t.Errorf("%v", service)
	}
	parses(t, command[1:])
	for _, variable := range append(variables(read(t, "systemd/lockscope.env")),
		variables(strings.Join(service["Service.Environment"], "\n"))...) {
		knowsVariable(t, "scan", variable)
	}
	serve := unit(t, "systemd/lockscope-serve.service")
	command = strings.Fields(serve["Service.ExecStart"][0])
	parses(t, command[1:])
	for _, variable := range variables(read(t, "systemd/lockscope.env")) {
		knowsVariable(t, "serve", variable)
	}
	if command[0] != "/usr/local/bin/lockscope" || serve["Install.WantedBy"][0] != "multi-user.target" ||
		serve["Service.StateDirectory"][0] == service["Service.StateDirectory"][0] {
		t.Errorf("%v", serve)
	}
	timer := unit(t, "systemd/lockscope-scan.timer")
	if timer["Timer.OnCalendar"] == nil || timer["Install.WantedBy"][0] != "timers.target" {
		t.Errorf("%v", timer)
	}
	verify(t)
}

// variables are the names that a file of NAME=value sets.
func variables(text string) (names []string) {
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			names = append(names, name)
		}
	}
	return names
}

// verify lets systemd itself read the units, where it is installed, with the path
// of the program that was built.
func verify(t *testing.T) {
	t.Helper()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("no systemd-analyze here: the units were read by this test alone")
		return
	}
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"lockscope-scan.service", "lockscope-scan.timer", "lockscope-serve.service"} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(strings.ReplaceAll(read(t, "systemd/"+name), "/usr/local/bin/lockscope",
			built)), 0o644))
		paths = append(paths, path)
	}
	out, err := exec.Command(analyze, append([]string{"verify", "--man=no", "--recursive-errors=no"},
		paths...)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "lockscope-") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestCrontab(t *testing.T) {
	text := read(t, "crontab")
	for _, variable := range variables(text) {
		if strings.HasPrefix(variable, "LOCKSCOPE_") {
			knowsVariable(t, "scan", variable)
		}
	}
	jobs := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "LOCKSCOPE_") {
			continue
		}
		fields := strings.Fields(line)
		_, args, ok := strings.Cut(line, "/usr/local/bin/lockscope ")
		if len(fields) < 7 || fields[5] == "root" || !ok {
			t.Errorf("%q: five fields of time, a user and the program are expected", line)
			continue
		}
		parses(t, strings.Fields(args))
		_, password, _ := strings.Cut(text, "LOCKSCOPE_REDIS_PASSWORD_FILE=")
		password, _, _ = strings.Cut(password, "\n")
		if install := "-m 400 -o " + fields[5] + " /dev/stdin " +
			password; !strings.Contains(read(t, "README.md"), install) {
			t.Errorf("the README gives the password to somebody else than %s: %q is missing", fields[5], install)
		}
		jobs++
	}
	if jobs != 1 {
		t.Errorf("%d jobs", jobs)
	}
}
