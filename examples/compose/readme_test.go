package compose_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	linked  = regexp.MustCompile(`http://127\.0\.0\.1:(\d+)`)
	command = regexp.MustCompile(`docker compose (exec|run --rm|pause|unpause|kill|start|logs --follow) ([^\n;#` + "`" +
		`]+)`)
	file = regexp.MustCompile(`\]\(([^)]+)\)`)
)

// TestReadme: what README.md says to open is published, and what it says to type is
// there.
func TestReadme(t *testing.T) {
	s := loadStack(t)
	text := read(t, "README.md")
	var ports []string
	for _, svc := range s.Services {
		for _, p := range svc.Ports {
			ports = append(ports, published.FindStringSubmatch(p)[1])
		}
	}
	for _, port := range ports {
		if !strings.Contains(text, "http://127.0.0.1:"+port) {
			t.Errorf("port %s is not explained", port)
		}
	}
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(ports, m[1]) {
			t.Errorf("nothing is published at %s", m[0])
		}
	}
	for _, m := range file.FindAllStringSubmatch(text, -1) {
		if !exists(m[1]) {
			t.Errorf("there is no %s", m[1])
		}
	}
	for _, m := range command.FindAllStringSubmatch(text, -1) {
		checkCommand(t, s, m[1], strings.Fields(m[2]))
	}
	if n := len(command.FindAllString(text, -1)); n != 12 {
		t.Errorf("%d commands were checked", n)
	}
}

func checkCommand(t *testing.T, s stack, verb string, words []string) {
	t.Helper()
	names, args := words, []string(nil)
	if verb == "exec" || verb == "run --rm" {
		names, args = words[:1], words[1:]
	}
	for _, name := range names {
		if _, ok := s.Services[strings.Replace(name, "$n", "5", 1)]; !ok {
			t.Errorf("docker compose %s %q: no service %s", verb, words, name)
		}
	}
	if verb == "run --rm" {
		bin := programs + s.Services[words[0]].Build.Target
		if o := run(t, bin, append(args, "--help")...); o.status != 0 ||
			!strings.Contains(o.out, "Usage: lockscope "+args[0]) {
			t.Errorf("%q: exit %d\n%s", words, o.status, o.err)
		}
	}
}

// TestAlertsNamed: the alerts that README.md names exist.
func TestAlertsNamed(t *testing.T) {
	rules := read(t, root+"/dashboards/rules/alerts.yaml") + read(t, root+"/dashboards/rules/slo.yaml")
	for _, name := range regexp.MustCompile(`DistributedLock\w+`).FindAllString(read(t, "README.md"), -1) {
		if !strings.Contains(rules, "alert: "+name+"\n") {
			t.Errorf("there is no alert %s", name)
		}
	}
}
