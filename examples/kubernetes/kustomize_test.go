// Package kubernetes_test builds what kustomize would apply, and holds it to rules. No
// cluster is needed for that, and none is proved.
package kubernetes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// objects builds a directory, as kubectl apply -k does, and returns its objects by kind.
func objects(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	all := make(map[string]map[string]any)
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		if all[r.GetKind()] != nil {
			t.Errorf("%s: two objects of kind %s", dir, r.GetKind())
		}
		all[r.GetKind()] = object
	}
	return all
}

// at follows a path of fields; numbers are places in a list. It is nil if there is none.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

func kinds(all map[string]map[string]any) (names []string) {
	for kind := range all {
		names = append(names, kind)
	}
	slices.Sort(names)
	return names
}

// program builds the binary the manifests run.
func program(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "lockscope")
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", bin, "./exporter/cmd/lockscope")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOWORK="+
		filepath.Join(root, ".tools", "release", "release.work"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// checkPod holds a pod to the rules: nobody's user, nothing writable, no token, a secret
// that can be rotated, and flags that the program knows.
func checkPod(t *testing.T, bin, secret string, template any) {
	t.Helper()
	pod := at(template, "spec")
	c := at(pod, "containers", 0)
	for what, ok := range map[string]bool{
		"one container":            at(pod, "containers", 1) == nil && c != nil,
		"no service account token": at(pod, "automountServiceAccountToken") == false,
		"no service links":         at(pod, "enableServiceLinks") == false,
		"non-root":                 at(pod, "securityContext", "runAsNonRoot") == true,
		"seccomp":                  at(pod, "securityContext", "seccompProfile", "type") == "RuntimeDefault",
		"no escalation":            at(c, "securityContext", "allowPrivilegeEscalation") == false,
		"read-only file system":    at(c, "securityContext", "readOnlyRootFilesystem") == true,
		"no capabilities":          at(c, "securityContext", "capabilities", "drop", 0) == "ALL",
		"limits": at(c, "resources", "limits", "memory") != nil &&
			at(c, "resources", "requests", "cpu") != nil,
		"an image with a tag": at(c, "image") == "lockscope:dev",
		"a secret that can be rotated": at(pod, "volumes", 0, "secret", "secretName") == secret &&
			at(c, "volumeMounts", 0, "readOnly") == true && at(c, "volumeMounts", 0, "subPath") == nil,
		"labels": at(template, "metadata", "labels", "app.kubernetes.io/name") == "lockscope",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
	list, _ := at(c, "args").([]any)
	var args []string
	for _, arg := range list {
		args = append(args, arg.(string))
	}
	mount, _ := at(c, "volumeMounts", 0, "mountPath").(string)
	if !slices.Contains(args, "--redis-password-file="+mount+"/password") {
		t.Errorf("the password is not where the program looks for it: %q", args)
	}
	if out, err := exec.Command(bin, append(args, "--help")...).CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
	if _, err := exec.Command(bin, append(args, "--no-such-flag", "--help")...).CombinedOutput(); err == nil {
		t.Error("an unknown flag is not noticed by this test")
	}
}

func TestBase(t *testing.T) {
	all := objects(t, "base")
	if got := kinds(all); !slices.Equal(got,
		[]string{"Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceMonitor"}) {
		t.Errorf("kinds %q: no Role, no ServiceAccount, and all of these", got)
	}
	d := all["Deployment"]
	checkPod(t, program(t), "lockscope-redis", at(d, "spec", "template"))
	labels := at(d, "spec", "template", "metadata", "labels")
	selectors := map[string]any{
		"Deployment":          at(d, "spec", "selector", "matchLabels"),
		"Service":             at(all["Service"], "spec", "selector"),
		"NetworkPolicy":       at(all["NetworkPolicy"], "spec", "podSelector", "matchLabels"),
		"PodDisruptionBudget": at(all["PodDisruptionBudget"], "spec", "selector", "matchLabels"),
		"ServiceMonitor":      at(all["ServiceMonitor"], "spec", "selector", "matchLabels"), // of the Service's labels
		"anti-affinity": at(d, "spec", "template", "spec", "affinity", "podAntiAffinity",
			"preferredDuringSchedulingIgnoredDuringExecution",
			0, "podAffinityTerm", "labelSelector", "matchLabels"),
	}
	for of, selector := range selectors {
		for _, name := range []string{"app.kubernetes.io/name", "app.kubernetes.io/component"} {
			if want := at(labels, name); want == nil || at(selector, name) != want {
				t.Errorf("%s selects %v by %s, want %v", of, at(selector, name), name, want)
			}
		}
	}
	port := at(d, "spec", "template", "spec", "containers", 0, "ports", 0, "name")
	for what, name := range map[string]any{
		"the Service's target": at(all["Service"], "spec", "ports", 0, "targetPort"),
		"the monitor's port":   at(all["ServiceMonitor"], "spec", "endpoints", 0, "port"),
		"the way in":           at(all["NetworkPolicy"], "spec", "ingress", 0, "ports", 0, "port"),
	} {
		if name != port {
			t.Errorf("%s is %v, want %v", what, name, port)
		}
	}
	if at(d, "spec", "replicas") != 2 || at(all["PodDisruptionBudget"], "spec", "maxUnavailable") != 1 {
		t.Error("one of two pods may be away, no more")
	}
	args, _ := at(d, "spec", "template", "spec", "containers", 0, "args").([]any)
	if !slices.Contains(args, any("--elect")) {
		t.Error("two pods sweep")
	}
}

func TestCronJob(t *testing.T) {
	all := objects(t, "cronjob")
	if got := kinds(all); !slices.Equal(got, []string{"CronJob", "NetworkPolicy"}) {
		t.Errorf("kinds %q", got)
	}
	job := at(all["CronJob"], "spec", "jobTemplate", "spec")
	checkPod(t, program(t), "lockscope-redis", at(job, "template"))
	schedule, _ := at(all["CronJob"], "spec", "schedule").(string)
	for what, ok := range map[string]bool{
		"a schedule":    len(strings.Fields(schedule)) == 5,
		"one at a time": at(all["CronJob"], "spec", "concurrencyPolicy") == "Forbid",
		"no retries":    at(job, "backoffLimit") == 0,
		"runs once":     at(job, "template", "spec", "restartPolicy") == "Never",
		"nobody comes in": at(all["NetworkPolicy"], "spec", "ingress") == nil &&
			at(all["NetworkPolicy"], "spec", "policyTypes", 0) == "Ingress",
		"its own pods": at(all["NetworkPolicy"], "spec", "podSelector", "matchLabels",
			"app.kubernetes.io/component") == "scan",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
}

// TestInit: it vouches once. As long as the Job exists, applying it again does nothing, and used nodes fail it.
func TestInit(t *testing.T) {
	all := objects(t, "init")
	if got := kinds(all); !slices.Equal(got, []string{"Job", "NetworkPolicy"}) {
		t.Errorf("kinds %q", got)
	}
	job := at(all["Job"], "spec")
	checkPod(t, program(t), "lockscope-redis-init", at(job, "template"))
	args, _ := at(job, "template", "spec", "containers", 0, "args").([]any)
	for what, ok := range map[string]bool{
		"it stays":              at(job, "ttlSecondsAfterFinished") == nil,
		"used nodes fail it":    !slices.Contains(args, any("--if-new")),
		"it waits for nodes":    at(job, "backoffLimit") == 6,
		"a user of its own":     slices.Contains(args, any("--redis-username=lockscope-init")),
		"nobody comes in":       at(all["NetworkPolicy"], "spec", "ingress") == nil,
		"its own pods":          at(all["NetworkPolicy"], "spec", "podSelector", "matchLabels", "app.kubernetes.io/component") == "init",
		"a pod that ends, ends": at(job, "template", "spec", "restartPolicy") == "Never",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
}
