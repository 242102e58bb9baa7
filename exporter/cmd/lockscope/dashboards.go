package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/dashboards"
)

const dashboardsHelp = `Dashboards writes the Grafana dashboards, the Prometheus rules and the runbooks that match
this version of lockscope below a directory, which is made if it is not there:

  grafana/       dashboards, to be imported or provisioned
  rules/         recording rules and alerts, for rule_files of Prometheus
  kubernetes/    the same rules as a PrometheusRule
  alertmanager/  routes and inhibitions for the Alertmanager: one cause, one notification
  runbooks/      one page for each alert
  provisioning/  examples of configuration for Grafana and Prometheus
  README.md      how to use them

Files that are there already and differ are kept unless --force is given. Nothing else in
the directory is touched.

Exit status: 0, or 2 if a file was kept, which is named, or could not be written.`

const dashboardsExample = `  lockscope dashboards --out ./lockscope-dashboards
  lockscope dashboards --out /etc/lockscope --force     # after an update`

func newDashboards(a *app) *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "dashboards", Short: "Write the Grafana dashboards, Prometheus rules and runbooks of this version",
		Long: dashboardsHelp, Example: dashboardsExample,
		RunE: func(*cobra.Command, []string) error { return a.writeDashboards(out, force) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`directory` to write to")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that differ")
	return cmd
}

func (a *app) writeDashboards(out string, force bool) error {
	if out == "" {
		return errors.New("--out is needed: the directory to write to")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	written, errs := 0, []error(nil)
	err := fs.WalkDir(dashboards.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		wrote, err := writeShipped(out, name, force)
		if wrote {
			written++
		}
		errs = append(errs, err)
		return nil
	})
	fmt.Fprintf(a.out, "%d files written to %s\n", written, out)
	return errors.Join(append(errs, err)...)
}

// writeShipped leaves a file that is the same alone, and reports whether it wrote it.
func writeShipped(out, name string, force bool) (wrote bool, err error) {
	text, err := fs.ReadFile(dashboards.FS(), name)
	if err != nil {
		return false, err
	}
	to := filepath.Join(out, filepath.FromSlash(name))
	switch there, err := os.ReadFile(to); {
	case err == nil && bytes.Equal(there, text):
		return false, nil
	case err == nil && !force:
		return false, fmt.Errorf("%s is there and differs: --force overwrites it", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(to, text, 0o644)
}
