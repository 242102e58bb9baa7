package cron_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var execStart = regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/lockscope (.*)$`)

// TestSystemd: the program knows what the units give it, and systemd reads them.
func TestSystemd(t *testing.T) {
	for _, name := range []string{"scan", "serve"} {
		text := read(t, "systemd/lockscope-"+name+".service")
		command := execStart.FindStringSubmatch(text)
		if command == nil {
			t.Fatalf("lockscope-%s.service runs something else", name)
		}
		parses(t, strings.Fields(command[1]))
		for _, variable := range append(variables(read(t, "systemd/lockscope.env")), "LOCKSCOPE_REDIS_PASSWORD_FILE") {
			knowsVariable(t, name, variable)
		}
		if !strings.Contains(text, "\nEnvironment=LOCKSCOPE_REDIS_PASSWORD_FILE=") {
			t.Errorf("lockscope-%s.service does not say where the password is", name)
		}
		if other := map[string]string{"scan": "lockscope-serve", "serve": "lockscope"}[name]; strings.Contains(text,
			"\nStateDirectory="+other+"\n") {
			t.Errorf("lockscope-%s.service has the state of the other unit", name)
		}
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
