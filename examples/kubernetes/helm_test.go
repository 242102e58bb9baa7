package kubernetes_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

// rendered are the objects that helm install would create, by kind.
func rendered(t *testing.T, values map[string]any) map[string]map[string]any {
	t.Helper()
	chart, err := loader.Load("helm")
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "lockscope", Namespace: "default", IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, release, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		t.Fatal(err)
	}
	objects := make(map[string]map[string]any)
	for name, text := range files {
		for document := range strings.SplitSeq(text, "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if object == nil {
				continue
			}
			kind, _ := object["kind"].(string)
			if objects[kind] != nil {
				t.Errorf("two objects of kind %s", kind)
			}
			objects[kind] = object
		}
	}
	return objects
}

// plain is an object as JSON has it, without what only Helm adds.
func plain(t *testing.T, object map[string]any) (clean any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &clean); err != nil {
		t.Fatal(err)
	}
	strip(clean)
	return clean
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "app.kubernetes.io/instance")
		delete(v, "annotations")
		if args, ok := v["args"].([]any); ok { // their order says nothing
			slices.SortFunc(args, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		for _, inner := range v {
			strip(inner)
		}
	case []any:
		for _, inner := range v {
			strip(inner)
		}
	}
}

// TestChart: the chart makes the same objects as the kustomizations, so that rules which hold for those hold for it.
func TestChart(t *testing.T) {
	off := map[string]any{"enabled": false}
	on := map[string]any{"enabled": true}
	for dir, values := range map[string]map[string]any{
		"base":    {},
		"cronjob": {"serve": off, "scan": on},
		"init":    {"serve": off, "init": on},
	} {
		t.Run(dir, func(t *testing.T) {
			want, got := objects(t, dir), rendered(t, values)
			if !slices.Equal(kinds(want), kinds(got)) {
				t.Fatalf("kinds %q, want %q", kinds(got), kinds(want))
			}
			for kind := range want {
				w, g := plain(t, want[kind]), plain(t, got[kind])
				if !reflect.DeepEqual(w, g) {
					t.Errorf("%s differs\nkustomize: %s\nhelm:      %s", kind, text(w), text(g))
				}
			}
		})
	}
}

func text(v any) string {
	out, _ := json.Marshal(v)
	return string(out)
}

// TestChartVouchesOnce: after an install, and never after an upgrade.
func TestChartVouchesOnce(t *testing.T) {
	job := rendered(t, map[string]any{"init": map[string]any{"enabled": true},
		"serve": map[string]any{"enabled": false}})["Job"]
	if hook := at(job, "metadata", "annotations", "helm.sh/hook"); hook != "post-install" {
		t.Errorf("the hook is %v", hook)
	}
	if rendered(t, nil)["Job"] != nil {
		t.Error("it vouches by default")
	}
}

// TestChartValues reach the objects.
func TestChartValues(t *testing.T) {
	all := rendered(t, map[string]any{
		"image": map[string]any{"tag": "1.2.3"}, "monitoring": map[string]any{"serviceMonitor": false},
		"redis": map[string]any{"servers": []any{"r1:7000"}, "port": 7000},
	})
	container := at(all["Deployment"], "spec", "template", "spec", "containers", 0)
	args, _ := at(container, "args").([]any)
	if at(container, "image") != "lockscope:1.2.3" || !slices.Contains(args, any("--redis=r1:7000")) ||
		all["ServiceMonitor"] != nil {
		t.Errorf("%v %v", at(container, "image"), args)
	}
	if port := at(all["NetworkPolicy"], "spec", "egress", 1, "ports", 0, "port"); port != float64(7000) {
		t.Errorf("the way to Redis is port %v", port)
	}
}

// TestChartLint is helm lint --strict. It only recommends an icon.
func TestChartLint(t *testing.T) {
	enabled := map[string]any{"enabled": true}
	found := lint.All("helm", map[string]any{"scan": enabled, "init": enabled}, "default", true)
	for _, m := range found.Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}
