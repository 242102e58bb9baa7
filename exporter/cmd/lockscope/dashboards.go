package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

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
  lockscope dashboards --out /etc/lockscope --force     # after an update
  lockscope dashboards --out ./locks --grafana-url https://grafana.example.com`

func newDashboards(a *app) *cobra.Command {
	var out string
	var force bool
	var to addresses
	cmd := &cobra.Command{
		Use: "dashboards", Short: "Write the Grafana dashboards, Prometheus rules and runbooks of this version",
		Long: dashboardsHelp, Example: dashboardsExample,
		RunE: func(*cobra.Command, []string) error { return a.writeDashboards(out, force, to) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`directory` to write to")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that differ")
	cmd.Flags().StringVar(&to.grafana, "grafana-url", "", "`address` of Grafana, for the links of alerts; paths without it")
	cmd.Flags().StringVar(&to.runbooks, "runbook-url", "", "`address` of the folder with the runbooks, if you keep copies")
	return cmd
}

// addresses are what alerts link to.
type addresses struct{ grafana, runbooks string }

// shippedRunbooks is where the runbooks of the shipped rules are.
const shippedRunbooks = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks"

func (to addresses) check() error {
	for flag, address := range map[string]string{"--grafana-url": to.grafana, "--runbook-url": to.runbooks} {
		u, err := url.Parse(address)
		if address != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" || strings.ContainsAny(address, " '\"{}")) {
			return fmt.Errorf("%s %s: want an address such as https://grafana.example.com", flag, address)
		}
	}
	return nil
}

// fill puts the addresses into a file of rules.
func (to addresses) fill(text []byte) []byte {
	var pairs []string
	if to.grafana != "" {
		pairs = append(pairs, "dashboard_url: /d/", "dashboard_url: "+strings.TrimSuffix(to.grafana, "/")+"/d/")
	}
	if to.runbooks != "" {
		pairs = append(pairs, "runbook_url: "+shippedRunbooks+"/", "runbook_url: "+strings.TrimSuffix(to.runbooks, "/")+"/")
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

func (a *app) writeDashboards(out string, force bool, to addresses) error {
	if out == "" {
		return errors.New("--out is needed: the directory to write to")
	}
	if err := to.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	written, errs := 0, []error(nil)
	err := fs.WalkDir(dashboards.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		wrote, err := writeShipped(out, name, force, to)
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
func writeShipped(out, name string, force bool, links addresses) (wrote bool, err error) {
	text, err := fs.ReadFile(dashboards.FS(), name)
	if err != nil {
		return false, err
	}
	if dir := path.Dir(name); dir == "rules" || dir == "kubernetes" {
		text = links.fill(text)
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
