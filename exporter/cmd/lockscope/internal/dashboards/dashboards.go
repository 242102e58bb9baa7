package dashboards

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

	"github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
)

const dashboardsHelp = `Dashboards writes the Grafana dashboards, the Prometheus rules and the runbooks that match
this version of lockscope below a directory, which is made if it is not there:

  grafana/        dashboards, to be imported or provisioned
  rules/          recording rules and alerts, for rule_files of Prometheus
  kubernetes/     the same rules as a PrometheusRule
  alertmanager/   routes and inhibitions for the Alertmanager: one cause, one notification
  runbooks/       one page for each alert
  provisioning/   examples of configuration for Grafana and Prometheus
  README.md       how to use them

With --format configmaps, kubernetes/ also has every dashboard as a ConfigMap with the label
that Grafana's sidecar looks for, and grafana/ and rules/ are left out. With --format mixin
there is a mixin.libsonnet over rules/ and grafana/, for jsonnet.

Flags fit the files to a fleet:

  --labels       rules and dashboards tell fleets apart by these labels, instead of by cluster
  --selector     rules and dashboards read only the metrics that match
  --objectives   what resources are promised: pairs of availability, wait and within, or a YAML
                 file:

                   slo: {availability: 0.9999, wait: 0.95, within_seconds: 0.1}
                   resources:
                     - {resource: nightly-report, every: 1d}   # an alert if it is overdue
                     - {resource: leader, queues: true}        # callers are meant to wait

Windows and thresholds are changed with the generator in dashboards/gen of the repository.

Files that are there already and differ are kept unless --force is given. Nothing else in
the directory is touched.

Exit status: 0, or 2 if a file was kept, which is named, or could not be written.`

const dashboardsExample = `  lockscope dashboards --out ./lockscope-dashboards
  lockscope dashboards --out /etc/lockscope --force     # after an update
  lockscope dashboards --out ./locks --grafana-url https://grafana.example.com
  lockscope dashboards --out ./locks --labels cluster,namespace --selector 'env="prod"'
  lockscope dashboards --out ./locks --objectives availability=0.9999,wait=0.95,within=0.1
  lockscope dashboards --out ./locks --format configmaps   # then: kubectl apply -f locks/kubernetes`

// fitting is what the flags say about the files.
type fitting struct {
	settings   deploy.Settings
	labels     string
	objectives string
	format     string
}

// Command is lockscope dashboards.
func Command(a *app.App) *cobra.Command {
	var out string
	var force bool
	var fit fitting
	cmd := &cobra.Command{
		Use: "dashboards", Short: "Write the Grafana dashboards, Prometheus rules and runbooks of this version",
		Long: dashboardsHelp, Example: dashboardsExample,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("labels") {
				fit.settings.Labels = listed(fit.labels)
			}
			return writeDashboards(a, out, force, fit)
		},
	}
	flags, s := cmd.Flags(), &fit.settings
	flags.StringVar(&out, "out", "", "`directory` to write to")
	flags.BoolVar(&force, "force", false, "overwrite files that differ")
	flags.StringVar(&fit.format, "format", string(deploy.Plain), "files, configmaps or mixin")
	flags.StringVar(&fit.labels, "labels", "cluster",
		"`names` of labels that tell fleets apart, with commas; empty for none")
	flags.StringVar(&s.Selector, "selector", "", "`matchers` for every metric that is read, such as 'env=\"prod\"'")
	flags.StringVar(&fit.objectives, "objectives", "",
		"`pairs` such as availability=0.9999,wait=0.95,within=0.1, or a file")
	flags.StringVar(&s.GrafanaURL, "grafana-url", "", "`address` of Grafana, for the links of alerts; paths without it")
	flags.StringVar(&s.RunbookURL, "runbook-url", "", "`address` of the folder with the runbooks, if you keep copies")
	flags.StringVar(&s.ExporterJob, "exporter-job", "",
		"scrape `job` of the exporter, which must always have a target that is up")
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

func writeDashboards(a *app.App, out string, force bool, fit fitting) error {
	if out == "" {
		return errors.New("--out is needed: the directory to write to")
	}
	var err error
	if fit.settings.Objectives, err = deploy.ReadObjectives(fit.objectives); err != nil {
		return err
	}
	files, err := deploy.Files(dashboards.FS(), fit.settings, deploy.Format(fit.format))
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
	needs, err := deploy.Needs(dashboards.FS())
	if err == nil {
		fmt.Fprintf(a.Out, "the %d-day budget needs --storage.tsdb.retention.time of %dd or more\n", needs.Period/day,
			needs.Retention/day)
	}
	return errors.Join(append(errs, err)...)
}

// writeShipped leaves a file that is the same alone, and reports whether it wrote it.
func writeShipped(out string, f deploy.File, force bool) (wrote bool, err error) {
	to := filepath.Join(out, filepath.FromSlash(f.Path))
	switch there, err := os.ReadFile(to); {
	case err == nil && bytes.Equal(there, f.Text):
		return false, nil
	case err == nil && !force:
		return false, fmt.Errorf("%s is there and differs: --force overwrites it", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(to, f.Text, 0o644)
}
