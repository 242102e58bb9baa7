package ui

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed topics/*.txt
var texts embed.FS

// topics are commands that do nothing, which cobra calls additional help topics.
func topics() (all []*cobra.Command) {
	for _, t := range []struct{ name, short string }{
		{"commands", "What run and elect promise: signals, lost locks, variables, metrics, other platforms"},
		{"connection", "Server addresses, passwords, TLS, Sentinel, Cluster and the rights each command needs"},
		{"environment", "Variables: one for each flag, and those for secrets"},
		{"exit-codes", "Exit statuses of every command"},
		{"findings", "Classes of leaked locks, and the gaps of an incomplete sweep"},
		{"json", "Fields of the JSON output"},
		{"locks", "What list reports: states of locks, waiters, deadlocks, nodes that did not answer"},
		{"objectives", "The file of dashboards --values"},
		{"quarantine", "Why a restarted node does not vote, and what init and reconfigure do about it"},
		{"serving", "Endpoints, reload, election, memory and pages of serve"},
	} {
		text, err := texts.ReadFile("topics/" + t.name + ".txt")
		if err != nil {
			panic(err) // the files are part of the program
		}
		all = append(all, &cobra.Command{Use: t.name, Short: t.short, Long: string(text)})
	}
	return all
}

const flagsText = `Flags

"lockscope COMMAND --help" shows the everyday flags of a command.
"lockscope help flags COMMAND" shows all of them, with their defaults and variables.

All commands have these flags:
  --log.level level     lowest level to log: debug, info (the default), warn or error
  --log.format format   format of the log on standard error: console (the default) or json

Values:
  - lists: separate the values by commas, or repeat the flag
  - durations: 2w, 1d12h, 90m, 10s, 250ms; a day has 24 hours
  - variables: see "lockscope help environment"`

// flagPages are the topic "flags", with a page for each command that has flags of its own.
func flagPages(root *cobra.Command) *cobra.Command {
	pages := &cobra.Command{Use: "flags", Short: "Every flag of a command: lockscope help flags COMMAND",
		Long: flagsText}
	addFlagPages(pages, root)
	return pages
}

func addFlagPages(pages, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.IsAdditionalHelpTopicCommand() || !cmd.IsAvailableCommand() {
			continue
		}
		page := &cobra.Command{
			Use: cmd.Name(), Short: cmd.Short,
			Annotations: map[string]string{allOf: strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")},
		}
		addFlagPages(page, cmd)
		if cmd.HasLocalFlags() || page.HasSubCommands() {
			pages.AddCommand(page)
		}
	}
}

// allFlags is the page of a command's flags.
func allFlags(b *strings.Builder, page *cobra.Command) {
	of := page.Annotations[allOf]
	cmd, _, err := page.Root().Find(strings.Fields(of))
	if err != nil {
		return
	}
	if !cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(b, "Flags of the commands below lockscope %s\n", of)
		for _, sub := range page.Commands() {
			fmt.Fprintf(b, "  lockscope help flags %s\n", sub.Annotations[allOf])
		}
		return
	}
	fmt.Fprintf(b, "Flags of lockscope %s. A flag wins over its variable, which is in brackets.\n", of)
	writeLong(b, allGroups(cmd))
}
