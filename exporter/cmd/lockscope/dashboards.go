package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const dashboardsHelp = `Write the Grafana dashboards, Prometheus rules and runbooks that match this version.

  grafana/        dashboards to import or provision
  rules/          recording rules and alerts, for rule_files of Prometheus
  kubernetes/     the same rules as a PrometheusRule; with --format configmaps, dashboards too
  alertmanager/   routes and inhibitions: one cause, one notification
  runbooks/       one page for each alert
  provisioning/   example configuration of Grafana and Prometheus
  README.md       how to use them

Existing files that differ are kept unless you give --force. To change windows and thresholds, use
the generator in dashboards/gen of the repository.`

const dashboardsExample = `  lockscope dashboards --out ./locks --grafana-url https://grafana.example.com
  lockscope dashboards --out ./locks --labels cluster,namespace --selector 'env="prod"'
  lockscope dashboards --out ./locks --format configmaps  # then: kubectl apply -f locks/kubernetes`

// fitting is how the flags fit the files to a fleet.
type fitting struct {
	settings   deploy.Settings
	values     string
	labels     string
	objectives string
	format     string
}

func newDashboards(a *ui.App) *cobra.Command {
	var out string
	var force bool
	var fit fitting
	cmd := ui.Page{
		Exit:   "0, or 2 if a file was kept or could not be written",
		Topics: []string{"objectives"},
	}.On(&cobra.Command{
		Use: "dashboards", Short: "Write Grafana dashboards, Prometheus rules and runbooks of this version",
		Long: dashboardsHelp, Example: dashboardsExample,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := fit.read(cmd.Flags())
			if err != nil {
				return err
			}
			return writeDashboards(a, out, force, s, deploy.Format(fit.format))
		},
	})
	set, s := cmd.Flags(), &fit.settings
	set.StringVar(&out, "out", "", "`directory` to write to; it is made if missing")
	set.BoolVar(&force, "force", false, "overwrite files that differ")
	set.StringVar(&fit.format, "format", string(deploy.Plain),
		"files, configmaps or mixin. configmaps puts each dashboard in a ConfigMap with the label that Grafana's "+
			"sidecar looks for; mixin adds a mixin.libsonnet for jsonnet")
	set.StringVar(&fit.values, "values", "", "`file` with labels, selector, addresses and objectives, as YAML. "+
		"Flags override it")
	set.StringVar(&fit.labels, "labels", "cluster", "`names` of the labels that tell fleets apart. Separate them by "+
		"commas; empty for none")
	set.StringVar(&s.Selector, "selector", "", "`matchers` for every metric that is read, such as 'env=\"prod\"'")
	set.StringVar(&fit.objectives, "objectives", "", "`pairs` such as availability=0.9999,wait=0.95,within=0.1")
	set.StringVar(&s.GrafanaURL, "grafana-url", "", "`URL` of Grafana, for links in alerts. Without it, they are paths")
	set.StringVar(&s.RunbookURL, "runbook-url", "", "`URL` of the folder with the runbooks, if you keep copies")
	set.StringVar(&s.ExporterJob, "exporter-job", "",
		"scrape `job` of lockscope serve, to alert when it has no target that is up")
	ui.Group(set, ui.Result, "out", "force", "format")
	ui.Group(set, "Your fleet", "values", "labels", "selector", "objectives", "grafana-url", "runbook-url", "exporter-job")
	return cmd
}

// listed is not nil for an empty list: no label is another choice than the usual one.
func listed(text string) []string {
	names := []string{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// read returns the values of the file, overridden by the flags that were given.
func (fit *fitting) read(set *pflag.FlagSet) (s deploy.Settings, err error) {
	if fit.values != "" {
		if s, err = deploy.Read(fit.values); err != nil {
			return s, err
		}
	}
	given := fit.settings
	for flag, override := range map[string]func(){
		"labels":       func() { s.Labels = listed(fit.labels) },
		"selector":     func() { s.Selector = given.Selector },
		"grafana-url":  func() { s.GrafanaURL = given.GrafanaURL },
		"runbook-url":  func() { s.RunbookURL = given.RunbookURL },
		"exporter-job": func() { s.ExporterJob = given.ExporterJob },
		"objectives":   func() { err = s.Objectives.Override(fit.objectives) },
	} {
		if set.Changed(flag) {
			override()
		}
	}
	return s, err
}

func writeDashboards(a *ui.App, out string, force bool, s deploy.Settings, format deploy.Format) error {
	if out == "" {
		return errors.New("--out is missing: name the directory to write to")
	}
	files, err := deploy.Files(dashboards.FS(), s, format)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	written, errs := 0, []error(nil)
	for _, f := range files {
		wrote, err := writeShipped(out, f, force)
		if wrote {
			written++
		}
		errs = append(errs, err)
	}
	fmt.Fprintf(a.Out, "%d files written to %s\n", written, out)
	const day = 24 * time.Hour
	fmt.Fprintf(a.Out, "the %d-day budget needs --storage.tsdb.retention.time of %dd or more\n", deploy.Period/day,
		deploy.Retention/day)
	return errors.Join(errs...)
}

// writeShipped leaves a file that is the same alone, and reports whether it wrote it.
func writeShipped(out string, f deploy.File, force bool) (wrote bool, err error) {
	to := filepath.Join(out, filepath.FromSlash(f.Path))
	switch there, err := os.ReadFile(to); {
	case err == nil && bytes.Equal(there, f.Text):
		return false, nil
	case err == nil && !force:
		return false, fmt.Errorf("%s exists and differs: overwrite it with --force", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(to, f.Text, 0o644)
}
