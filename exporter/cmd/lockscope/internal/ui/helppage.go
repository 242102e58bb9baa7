package ui

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Annotations of a command.
const (
	everyday = "lockscope_everyday"
	exit     = "lockscope_exit"
	seeAlso  = "lockscope_see_also"
	allOf    = "lockscope_flags_of"
)

// Page completes the help of a command, which has its purpose, usage and examples already.
type Page struct {
	Everyday []string // the flags to show; without any, all of them
	Exit     string   // the exit statuses, in one line
	Topics   []string // where to read more
}

// On gives cmd this page.
func (p Page) On(cmd *cobra.Command) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = make(map[string]string)
	}
	cmd.Annotations[everyday] = strings.Join(p.Everyday, " ")
	cmd.Annotations[exit] = p.Exit
	cmd.Annotations[seeAlso] = strings.Join(p.Topics, ", ")
	return cmd
}

// InstallHelp gives root its topics, its help command and the pages of all commands, which it must have by now.
func InstallHelp(root *cobra.Command) {
	for _, t := range topics() {
		root.AddCommand(t)
	}
	root.AddCommand(flagPages(root))
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writePage(cmd.OutOrStdout(), cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		writePage(cmd.OutOrStderr(), cmd)
		return nil
	})
}

// writePage writes the page of a command or topic.
func writePage(out io.Writer, cmd *cobra.Command) {
	var b strings.Builder
	switch {
	case cmd.Annotations[allOf] != "":
		allFlags(&b, cmd)
	case cmd.IsAdditionalHelpTopicCommand() && cmd.Long != "":
		b.WriteString(strings.TrimSpace(cmd.Long) + "\n")
		listed(&b, "Pages", cmd.Commands())
	case !cmd.HasParent():
		rootPage(&b, cmd)
	default:
		commandPage(&b, cmd)
	}
	_, _ = io.WriteString(out, b.String()) // nothing can report that standard output failed
}

func rootPage(b *strings.Builder, root *cobra.Command) {
	writeHead(b, root)
	var commands, topics []*cobra.Command
	for _, cmd := range root.Commands() {
		switch {
		case cmd.IsAdditionalHelpTopicCommand():
			topics = append(topics, cmd)
		case cmd.IsAvailableCommand():
			commands = append(commands, cmd)
		}
	}
	listed(b, "Commands (lockscope COMMAND --help)", commands)
	listed(b, "Topics (lockscope help TOPIC)", topics)
}

func commandPage(b *strings.Builder, cmd *cobra.Command) {
	writeHead(b, cmd)
	var commands []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			commands = append(commands, sub)
		}
	}
	listed(b, "Commands", commands)
	names := strings.Fields(cmd.Annotations[everyday])
	writeShort(b, groups(cmd.LocalFlags(), names))
	writeFoot(b, cmd, len(names) > 0, count(allGroups(cmd)))
}

// writeHead is the purpose, the usage and the examples.
func writeHead(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "%s\n\nUsage: %s\n", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), usageLine(cmd))
	if cmd.HasExample() {
		fmt.Fprintf(b, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
}

func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND [flags]"
	}
	return cmd.UseLine()
}

// writeFoot is where to read more.
func writeFoot(b *strings.Builder, cmd *cobra.Command, more bool, flags int) {
	var lines []string
	if text := cmd.Annotations[exit]; text != "" {
		lines = append(lines, "Exit status:  "+text)
	}
	if more {
		path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		lines = append(lines, fmt.Sprintf("All %d flags: lockscope help flags %s", flags, path))
	}
	if also := cmd.Annotations[seeAlso]; also != "" {
		lines = append(lines, "See also:     lockscope help "+also)
	}
	if len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
}

// listed has a line for each command.
func listed(b *strings.Builder, title string, commands []*cobra.Command) {
	if len(commands) == 0 {
		return
	}
	width := 0
	for _, cmd := range commands {
		width = max(width, len(cmd.Name()))
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, cmd := range commands {
		fmt.Fprintf(b, "  %-*s  %s\n", width, cmd.Name(), cmd.Short)
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "Show the help of a command or topic",
		Long:              "Show the help of a command or topic. Without one, list them all.",
		Example:           "  lockscope help scan\n  lockscope help flags scan\n  lockscope help exit-codes",
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // a bad variable must not prevent help
		ValidArgsFunction: complete,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if about == nil || err != nil || len(rest) > 0 {
				return fmt.Errorf("no help for %q%s: list the commands and topics with \"lockscope help\"",
					strings.Join(args, " "), nearestPage(about, rest))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// nearestPage names the command or topic that was probably meant.
func nearestPage(about *cobra.Command, rest []string) string {
	if about == nil || len(rest) == 0 {
		return ""
	}
	var known []string
	for _, sub := range about.Commands() {
		known = append(known, sub.Name())
	}
	return didYouMean("", Nearest(rest[0], known))
}

// complete offers commands and topics to a shell.
func complete(cmd *cobra.Command, args []string, toComplete string) (names []string, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if about == nil || err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range about.Commands() {
		if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) &&
			strings.HasPrefix(sub.Name(), toComplete) {
			names = append(names, sub.Name()+"\t"+sub.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

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
