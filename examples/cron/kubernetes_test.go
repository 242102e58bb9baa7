package cron_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The parts of the Kubernetes API that the manifests use: any other field is an error.
type (
	meta struct {
		Name        string            `yaml:"name"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
	}
	cronJob struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   meta   `yaml:"metadata"`
		Spec       struct {
			Schedule                   string `yaml:"schedule"`
			TimeZone                   string `yaml:"timeZone"`
			ConcurrencyPolicy          string `yaml:"concurrencyPolicy"`
			StartingDeadlineSeconds    int64  `yaml:"startingDeadlineSeconds"`
			SuccessfulJobsHistoryLimit *int   `yaml:"successfulJobsHistoryLimit"`
			FailedJobsHistoryLimit     *int   `yaml:"failedJobsHistoryLimit"`
			JobTemplate                struct {
				Spec struct {
					BackoffLimit            *int        `yaml:"backoffLimit"`
					ActiveDeadlineSeconds   int64       `yaml:"activeDeadlineSeconds"`
					TTLSecondsAfterFinished int64       `yaml:"ttlSecondsAfterFinished"`
					Template                podTemplate `yaml:"template"`
				} `yaml:"spec"`
			} `yaml:"jobTemplate"`
		} `yaml:"spec"`
	}
	deployment struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   meta   `yaml:"metadata"`
		Spec       struct {
			Replicas             int `yaml:"replicas"`
			RevisionHistoryLimit int `yaml:"revisionHistoryLimit"`
			Selector             struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			} `yaml:"selector"`
			Template podTemplate `yaml:"template"`
		} `yaml:"spec"`
	}
	podTemplate struct {
		Metadata meta `yaml:"metadata"`
		Spec     pod  `yaml:"spec"`
	}
	pod struct {
		RestartPolicy                 string `yaml:"restartPolicy"`
		AutomountServiceAccountToken  *bool  `yaml:"automountServiceAccountToken"`
		EnableServiceLinks            *bool  `yaml:"enableServiceLinks"`
		TerminationGracePeriodSeconds int    `yaml:"terminationGracePeriodSeconds"`
		SecurityContext               struct {
			RunAsNonRoot   bool  `yaml:"runAsNonRoot"`
			RunAsUser      int64 `yaml:"runAsUser"`
			RunAsGroup     int64 `yaml:"runAsGroup"`
			FSGroup        int64 `yaml:"fsGroup"`
			SeccompProfile struct {
				Type string `yaml:"type"`
			} `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		Containers []container `yaml:"containers"`
		Volumes    []struct {
			Name   string `yaml:"name"`
			Secret struct {
				SecretName  string `yaml:"secretName"`
				DefaultMode int    `yaml:"defaultMode"`
			} `yaml:"secret"`
		} `yaml:"volumes"`
	}
	container struct {
		Name  string   `yaml:"name"`
		Image string   `yaml:"image"`
		Args  []string `yaml:"args"`
		Ports []struct {
			Name          string `yaml:"name"`
			ContainerPort int    `yaml:"containerPort"`
		} `yaml:"ports"`
		LivenessProbe  *probe `yaml:"livenessProbe"`
		ReadinessProbe *probe `yaml:"readinessProbe"`
		Resources      struct {
			Requests map[string]string `yaml:"requests"`
			Limits   map[string]string `yaml:"limits"`
		} `yaml:"resources"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct {
				Drop []string `yaml:"drop"`
			} `yaml:"capabilities"`
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string `yaml:"name"`
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	probe struct {
		HTTPGet struct {
			Path string `yaml:"path"`
			Port string `yaml:"port"`
		} `yaml:"httpGet"`
		PeriodSeconds  int `yaml:"periodSeconds"`
		TimeoutSeconds int `yaml:"timeoutSeconds"`
	}
)

func decode(t *testing.T, path string, into any) {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(read(t, path)))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func isFalse(b *bool) bool { return b != nil && !*b }

// checkPod holds both manifests to the same rules: nobody's user, nothing writable,
// no token of Kubernetes, limits, and flags that the program knows.
func checkPod(t *testing.T, p podTemplate) container {
	t.Helper()
	s := p.Spec
	if len(s.Containers) != 1 {
		t.Fatalf("%d containers", len(s.Containers))
	}
	c := s.Containers[0]
	for what, ok := range map[string]bool{
		"no service account token": isFalse(s.AutomountServiceAccountToken),
		"no service links":         isFalse(s.EnableServiceLinks),
		"non-root": s.SecurityContext.RunAsNonRoot && s.SecurityContext.RunAsUser == 65532 &&
			s.SecurityContext.RunAsGroup == 65532,
		"the secret is readable": s.SecurityContext.FSGroup == 65532 && s.Volumes[0].Secret.DefaultMode == 0o440 &&
			s.Volumes[0].Secret.SecretName != "",
		"seccomp":                   s.SecurityContext.SeccompProfile.Type == "RuntimeDefault",
		"no escalation":             isFalse(c.SecurityContext.AllowPrivilegeEscalation),
		"read-only root filesystem": c.SecurityContext.ReadOnlyRootFilesystem,
		"no capabilities":           slices.Equal(c.SecurityContext.Capabilities.Drop, []string{"ALL"}),
		"requests and limits": c.Resources.Requests["cpu"] != "" && c.Resources.Requests["memory"] != "" &&
			c.Resources.Limits["memory"] != "",
		"an image": c.Image != "" && c.Name != "",
		"the mount is read-only": len(c.VolumeMounts) == 1 && c.VolumeMounts[0].ReadOnly &&
			c.VolumeMounts[0].Name == s.Volumes[0].Name,
		"the password is mounted": slices.Contains(c.Args, "--redis-password-file="+c.VolumeMounts[0].MountPath+
			"/password"),
		"labels": p.Metadata.Labels["app.kubernetes.io/name"] == "lockscope",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
	parses(t, c.Args)
	user, ok := flagOf(c.Args, "redis-username")
	if _, exists := users(t)[user]; !ok || !exists {
		t.Errorf("user %q is not in users.acl", user)
	}
	return c
}

// flagOf returns the value of a flag written --name=value.
func flagOf(args []string, name string) (string, bool) {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func TestCronJob(t *testing.T) {
	var j cronJob
	decode(t, "kubernetes/cronjob.yaml", &j)
	job := j.Spec.JobTemplate.Spec
	c := checkPod(t, job.Template)
	deadline, _ := flagOf(c.Args, "deadline")
	for what, ok := range map[string]bool{
		"batch/v1 CronJob":       j.APIVersion == "batch/v1" && j.Kind == "CronJob" && j.Metadata.Name != "",
		"a schedule of 5 fields": len(strings.Fields(j.Spec.Schedule)) == 5 && j.Spec.TimeZone == "Etc/UTC",
		"Forbid":                 j.Spec.ConcurrencyPolicy == "Forbid",
		"history":                j.Spec.SuccessfulJobsHistoryLimit != nil && j.Spec.FailedJobsHistoryLimit != nil,
		"a starting deadline":    j.Spec.StartingDeadlineSeconds > 100, // below, Kubernetes may miss it altogether
		"no retries":             job.BackoffLimit != nil && *job.BackoffLimit == 0,
		"never restarted":        job.Template.Spec.RestartPolicy == "Never",
		"time to report":         deadline == "8m" && job.ActiveDeadlineSeconds >= 600,
		"runs scan":              c.Args[0] == "scan",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
}

func TestDeployment(t *testing.T) {
	var d deployment
	decode(t, "kubernetes/deployment.yaml", &d)
	c := checkPod(t, d.Spec.Template)
	listen, _ := flagOf(c.Args, "web.listen-address")
	for what, ok := range map[string]bool{
		"apps/v1 Deployment":   d.APIVersion == "apps/v1" && d.Kind == "Deployment" && d.Metadata.Name != "",
		"one of several leads": d.Spec.Replicas > 1 && slices.Contains(c.Args, "--elect"),
		"selects its pods":     subset(d.Spec.Selector.MatchLabels, d.Spec.Template.Metadata.Labels),
		"restarted":            d.Spec.Template.Spec.RestartPolicy == "",
		"the port is open": listen == ":17379" && c.Ports[0].ContainerPort == 17379 &&
			d.Spec.Template.Metadata.Annotations["prometheus.io/port"] == "17379",
		"liveness": c.LivenessProbe != nil && c.LivenessProbe.HTTPGet.Path == "/healthz" &&
			c.LivenessProbe.HTTPGet.Port == c.Ports[0].Name,
		"readiness": c.ReadinessProbe != nil && c.ReadinessProbe.HTTPGet.Path == "/readyz" &&
			c.ReadinessProbe.HTTPGet.Port == c.Ports[0].Name,
		"runs serve": c.Args[0] == "serve",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
}

func subset(small, large map[string]string) bool {
	for k, v := range small {
		if large[k] != v {
			return false
		}
	}
	return len(small) > 0
}

// TestStrictness: the checks above see a field that is misspelt.
func TestStrictness(t *testing.T) {
	dec := yaml.NewDecoder(strings.NewReader(strings.Replace(read(t, "kubernetes/cronjob.yaml"), "concurrencyPolicy",
		"concurrencypolicy", 1)))
	dec.KnownFields(true)
	if err := dec.Decode(new(cronJob)); err == nil || !strings.Contains(err.Error(), "concurrencypolicy") {
		t.Errorf("%v", err)
	}
}
