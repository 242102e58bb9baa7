package program

import (
	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// Root completes the command above all others.
func (p *Program) Root(root *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.PersistentPreRunE, root.SilenceErrors, root.SilenceUsage = p.prepare, true, true
	root.SetFlagErrorFunc(badFlag)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.ErrOut)
	root.SetVersionTemplate("lockscope {{.Version}}\n")
	set := root.PersistentFlags()
	set.StringVar(&p.logLevel, "log.level", "info", "lowest `level` to log: debug, info, warn or error")
	set.StringVar(&p.logFormat, "log.format", "console", "`format` of the log on standard error: console or json")
	ui.Group(set, ui.Logging, "log.level", "log.format")
	root.AddCommand(commands...)
	for _, cmd := range append(Subcommands(root), root) {
		cmd.SuggestionsMinimumDistance = 2
		switch {
		case cmd.Args != nil:
		case cmd.HasSubCommands():
			cmd.Args = noCommand
		default:
			cmd.Args = ui.NoArguments
		}
		cmd.Flags().SortFlags = false
		ui.AllowDays(cmd.Flags())
	}
	ui.InstallHelp(root)
	return root
}
