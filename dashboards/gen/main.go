// Gen writes the Prometheus rules and the Grafana dashboards of lockscope.
//
//	cd dashboards/gen && go run . -out ..
//
// writes what is committed. Objectives, windows, thresholds and addresses are
// changed by flags, or by a file that starts as the output of -print-config:
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

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
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
	dir := set.String("out", "", "write the files into this directory")
	file := set.String("config", "", "YAML file with what differs from the defaults")
	printConfig := set.Bool("print-config", false, "print the configuration as such a file, and write nothing")
	printQueries := set.Bool("queries", false, "print every query of the dashboards as a line of JSON, and write nothing")
	overrides := overrideFlags(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	c := config.Default()
	if *file != "" {
		var err error
		if c, err = config.Read(*file); err != nil {
			return err
		}
	}
	set.Visit(func(f *flag.Flag) {
		if change, ok := overrides[f.Name]; ok {
			change(&c)
		}
	})
	if err := c.Validate(); err != nil {
		return err
	}
	switch {
	case *printConfig:
		text, err := c.YAML()
		_, _ = out.Write(text)
		return err
	case *printQueries:
		return queries(c, out)
	case *dir == "":
		return errors.New("-out says where to write: -out .. writes what is committed")
	}
	return write(c, *dir)
}

// overrideFlags are for what is changed most often; a flag wins over the file.
func overrideFlags(set *flag.FlagSet) map[string]func(*config.Config) {
	d := config.Default()
	availability := set.Float64("availability", d.SLO.Availability, "share of acquires that get the lock")
	wait := set.Float64("wait", d.SLO.Wait, "share of acquires that wait for -within at most")
	within := set.Float64("within", d.SLO.WithinSeconds, "seconds; one of the buckets of distributed_lock_wait_seconds")
	selector := set.String("selector", "", `matchers for every selector of the rules, such as env="prod"`)
	runbooks := set.String("runbooks", d.RunbookURL, "address of the runbooks")
	grafanaURL := set.String("grafana", d.DashboardURL, "address of Grafana")
	job := set.String("exporter-job", "", "scrape job of the exporter, which must always have a target that is up")
	return map[string]func(*config.Config){
		"availability": func(c *config.Config) { c.SLO.Availability = *availability },
		"wait":         func(c *config.Config) { c.SLO.Wait = *wait },
		"within":       func(c *config.Config) { c.SLO.WithinSeconds = *within },
		"selector":     func(c *config.Config) { c.Selector = *selector },
		"runbooks":     func(c *config.Config) { c.RunbookURL = *runbooks },
		"grafana":      func(c *config.Config) { c.DashboardURL = *grafanaURL },
		"exporter-job": func(c *config.Config) { c.ExporterJob = *job },
	}
}

// queries lists what a proof on live data has to ask.
func queries(c config.Config, out io.Writer) error {
	boards, err := dashboards(c)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, f := range boards {
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
