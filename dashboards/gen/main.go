// Gen writes the Prometheus rules and the Grafana dashboards of lockscope.
//
//	cd dashboards/gen && go run . -out ..
//
// writes the committed files. To change windows and thresholds, edit the output of -print-config and pass it
// as -config. The file also has the settings of `lockscope dashboards`, which have flags here as well;
// package dashboards/deploy applies them in both programs:
//
//	go run . -print-config >fleet.yaml
//	go run . -config fleet.yaml -out /etc/lockscope
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string, out, errOut io.Writer) error {
	set := flag.NewFlagSet("gen", flag.ContinueOnError)
	set.SetOutput(errOut)
	dir := set.String("out", "", "directory to write the files to")
	file := set.String("config", "", "YAML file with the differences from the defaults")
	printConfig := set.Bool("print-config", false, "print the configuration as such a file and exit")
	printQueries := set.Bool("queries", false,
		"print every query of the dashboards as a line of JSON and exit")
	overrides := overrideFlags(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	f := fleet.Default()
	if *file != "" {
		var err error
		if f, err = fleet.Read(*file); err != nil {
			return err
		}
	}
	set.Visit(func(set *flag.Flag) {
		if change, ok := overrides[set.Name]; ok {
			change(&f)
		}
	})
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case *printConfig:
		text, err := f.YAML()
		_, _ = out.Write(text)
		return err
	case *printQueries:
		return queries(f, out)
	case *dir == "":
		return errors.New("no -out: name the directory to write to (-out .. for the committed files)")
	}
	return write(f, *dir)
}

// overrideFlags defines the flags of common settings. A flag overrides the file.
func overrideFlags(set *flag.FlagSet) map[string]func(*fleet.Fleet) {
	d := fleet.Default()
	availability := set.Float64("availability", d.SLO.Availability, "share of acquires that get the lock")
	wait := set.Float64("wait", d.SLO.Wait, "share of acquires that wait at most -within")
	within := set.Float64("within", d.SLO.WithinSeconds,
		"limit of good waits in seconds, a bucket of distributed_lock_wait_seconds")
	selector := set.String("selector", "", `matchers for every selector of the rules, such as env="prod"`)
	runbooks := set.String("runbooks", d.RunbookURL, "address of the runbooks")
	grafanaURL := set.String("grafana", d.DashboardURL, "address of Grafana")
	job := set.String("exporter-job", "", "scrape job of the exporter: alert if none of its targets is up")
	return map[string]func(*fleet.Fleet){
		"availability": func(f *fleet.Fleet) { f.SLO.Availability = *availability },
		"wait":         func(f *fleet.Fleet) { f.SLO.Wait = *wait },
		"within":       func(f *fleet.Fleet) { f.SLO.WithinSeconds = *within },
		"selector":     func(f *fleet.Fleet) { f.Selector = *selector },
		"runbooks":     func(f *fleet.Fleet) { f.RunbookURL = *runbooks },
		"grafana":      func(f *fleet.Fleet) { f.DashboardURL = *grafanaURL },
		"exporter-job": func(f *fleet.Fleet) { f.ExporterJob = *job },
	}
}

// queries prints every query of the dashboards, for a proof on live data.
func queries(of fleet.Fleet, out io.Writer) error {
	made, err := generate(of)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, f := range made {
		if path.Dir(f.Path) != "grafana" {
			continue
		}
		d, err := grafana.Parse(f.Text)
		if err != nil {
			return err
		}
		for _, q := range d.Queries() {
			if err := e.Encode(q); err != nil {
				return err
			}
		}
	}
	return nil
}
