package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/discover"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/operator"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/program"
	runcommand "github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/run"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/scan"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/serve"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const rootHelp = `Find, list and explain distributed locks in Redis, written by any library in any language.`

const rootExample = `  lockscope list --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379`

func newRoot(p *program.Program) *cobra.Command {
	return p.Root(&cobra.Command{
		Use: "lockscope", Short: "Find, list and explain distributed locks in Redis",
		Long: rootHelp, Example: rootExample, Version: exporter.Version(),
	}, scan.Command(p.App), serve.Command(p.App), list.Command(p.App), top.Command(p.App),
		runcommand.Command(p.App), runcommand.Elect(p.App), operator.Hold(p.App), operator.Revoke(p.App),
		operator.Repair(p.App), doctor.Command(p.App), doctor.Init(p.App),
		doctor.Reconfigure(p.App), discover.Command(p.App), config.Command(p.App), newDashboards(p.App), newVersion(p.App),
		ui.Manual(exporter.Version()))
}

func newVersion(a *ui.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "lockscope %s\n", exporter.Version())
			return err
		},
	}
}
