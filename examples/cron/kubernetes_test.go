package cron_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// at follows a path of fields and places in lists. It is nil where there is none.
func at(v any, path string) any {
	for field := range strings.FieldsSeq(path) {
		switch in := v.(type) {
		case map[string]any:
			v = in[field]
		case []any:
			n, err := strconv.Atoi(field)
			if err != nil || n >= len(in) {
				return nil
			}
			v = in[n]
		default:
			return nil
		}
	}
	return v
}

func wantFields(t *testing.T, what string, v any, want map[string]any) {
	t.Helper()
	for path, value := range want {
		if got := at(v, path); got != value {
			t.Errorf("%s: %s is %v, not %v", what, path, got, value)
		}
	}
}

// checkPod holds both manifests to the same rules: nobody's user, nothing writable, no token of Kubernetes, a limit, and
// flags that the program knows. A field that is misspelt is missing.
func checkPod(t *testing.T, what string, pod any) {
	t.Helper()
	wantFields(t, what, pod, map[string]any{
		"metadata labels app.kubernetes.io/name": "lockscope", "spec automountServiceAccountToken": false,
		"spec enableServiceLinks": false, "spec securityContext runAsNonRoot": true,
		"spec securityContext runAsUser": 65532, "spec securityContext runAsGroup": 65532,
		"spec securityContext fsGroup": 65532, "spec volumes 0 secret defaultMode": 0o440,
		"spec securityContext seccompProfile type": "RuntimeDefault", "spec containers 1": nil,
	})
	c := at(pod, "spec containers 0")
	wantFields(t, what, c, map[string]any{
		"image": "lockscope:dev", "securityContext allowPrivilegeEscalation": false,
		"securityContext readOnlyRootFilesystem": true, "securityContext capabilities drop 0": "ALL",
		"resources limits memory": "128Mi", "volumeMounts 0 readOnly": true,
		"volumeMounts 0 name": at(pod, "spec volumes 0 name"), "volumeMounts 0 mountPath": "/run/secrets/redis",
	})
	var args []string
	list, _ := at(c, "args").([]any)
	for _, arg := range list {
		args = append(args, arg.(string))
	}
	parses(t, args)
	if !slices.Contains(args, "--redis-password-file=/run/secrets/redis/password") {
		t.Errorf("%s: the password is not where the program looks for it: %q", what, args)
	}
	for _, arg := range args {
		if user, ok := strings.CutPrefix(arg, "--redis-username="); ok && users(t)[user] == nil {
			t.Errorf("user %q is not in users.acl", user)
		}
	}
}

func TestManifests(t *testing.T) {
	var job, deployment any
	must(t, yaml.Unmarshal([]byte(read(t, "kubernetes/cronjob.yaml")), &job))
	must(t, yaml.Unmarshal([]byte(read(t, "kubernetes/deployment.yaml")), &deployment))
	checkPod(t, "cronjob", at(job, "spec jobTemplate spec template"))
	wantFields(t, "cronjob", job, map[string]any{
		"kind": "CronJob", "spec timeZone": "Etc/UTC", "spec concurrencyPolicy": "Forbid",
		"spec startingDeadlineSeconds":       600, // below 100, Kubernetes may miss it altogether
		"spec jobTemplate spec backoffLimit": 0, "spec jobTemplate spec template spec restartPolicy": "Never",
		"spec jobTemplate spec activeDeadlineSeconds":             600, // longer than --deadline
		"spec jobTemplate spec template spec containers 0 args 0": "scan",
	})
	checkPod(t, "deployment", at(deployment, "spec template"))
	wantFields(t, "deployment", deployment, map[string]any{
		"kind": "Deployment", "spec replicas": 2, "spec selector matchLabels app.kubernetes.io/name": "lockscope",
		"spec template metadata annotations prometheus.io/port": "17379",
	})
	c := at(deployment, "spec template spec containers 0")
	wantFields(t, "serve", c, map[string]any{
		"args 0": "serve", "ports 0 name": "metrics", "ports 0 containerPort": 17379,
		"livenessProbe httpGet path": "/healthz", "livenessProbe httpGet port": "metrics",
		"readinessProbe httpGet path": "/readyz", "readinessProbe httpGet port": "metrics",
	})
	for _, arg := range []any{"--elect", "--web.listen-address=:17379"} {
		if list, _ := at(c, "args").([]any); !slices.Contains(list, arg) {
			t.Errorf("%v is not in %v", arg, list)
		}
	}
}
