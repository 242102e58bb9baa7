package program

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

// Root completes the command above all others.
func (p *Program) Root(root *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.PersistentPreRunE, root.SilenceErrors, root.SilenceUsage = p.prepare, true, true
	root.SuggestionsMinimumDistance = 2
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.ErrOut)
	root.SetUsageTemplate(wrapFlags(root.UsageTemplate()))
	root.SetVersionTemplate("lockscope {{.Version}}\n")
	set := root.PersistentFlags()
	set.StringVar(&p.logLevel, "log.level", "info", "log records of this level and above: debug, info, warn or error")
	set.StringVar(&p.logFormat, "log.format", "console", "format of log records on stderr: console or json")
	root.AddCommand(commands...)
	for _, cmd := range root.Commands() {
		if cmd.Args == nil {
			cmd.Args = app.NoArguments
		}
		cmd.Flags().SortFlags = false
		flags.AllowDays(cmd.Flags())
		flags.Document(cmd.Flags())
	}
	flags.Document(set)
	return root
}

// wrapFlags folds the help of flags at a width that terminals have.
func wrapFlags(template string) string {
	return strings.ReplaceAll(template, "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 110 ")
}
