package ui

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Manual is the hidden command that packages build the man pages with. It is to be added before [InstallHelp].
func Manual(version string) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "man", Short: "Write the man pages", Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return errors.New("--dir is missing: name the directory for the man pages")
			}
			return writeManual(cmd.Root(), version, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`directory` to write to; it is made if missing")
	return cmd
}

// writeManual writes lockscope-COMMAND.1 for each command, and lockscope-TOPIC.7 for each topic.
func writeManual(root *cobra.Command, version, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, cmd := range described(root) {
		path := filepath.Join(dir, fmt.Sprintf("%s.%d", manName(cmd), section(cmd)))
		if err := os.WriteFile(path, []byte(manPage(cmd, version)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// described are the commands and topics that have a man page: those of cobra and the pages of flags have none.
func described(cmd *cobra.Command) (all []*cobra.Command) {
	if cmd.Hidden || cmd.Annotations[allOf] != "" ||
		slices.Contains([]string{"completion", "help", "flags"}, cmd.Name()) {
		return nil
	}
	all = append(all, cmd)
	for _, sub := range cmd.Commands() {
		all = append(all, described(sub)...)
	}
	return all
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func section(cmd *cobra.Command) int {
	if cmd.IsAdditionalHelpTopicCommand() {
		return 7
	}
	return 1
}

// manPage is one page for man: it holds no date, so that a build can be repeated.
func manPage(cmd *cobra.Command, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d \"\" \"lockscope %s\" \"lockscope\"\n", roff(strings.ToUpper(manName(cmd))),
		section(cmd), roff(version))
	fmt.Fprintf(&b, ".nh\n.SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	if section(cmd) == 1 {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(usageLine(cmd)))
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", literal(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short))))
	if cmd.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", literal(cmd.Example))
	}
	if section(cmd) == 1 {
		options(&b, cmd)
	}
	if text := cmd.Annotations[exit]; text != "" {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(text))
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", related(cmd))
	return b.String()
}

// options are all flags of a command with their variables.
func options(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString(".SH OPTIONS\n")
	for _, g := range allGroups(cmd) {
		fmt.Fprintf(b, ".SS %s\n", roff(g.title))
		for _, f := range g.flags {
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(spec(f))), roff(usageOf(f)+defaultOf(f)+"."))
			if name, ok := Variable(f); ok {
				fmt.Fprintf(b, "Variable: %s.\n", roff(name))
			}
		}
	}
}

// related are the pages of the commands above and below, and of the topics that the page names.
func related(cmd *cobra.Command) string {
	var pages []string
	add := func(to *cobra.Command) {
		if to != nil && to != cmd && len(described(to)) > 0 {
			pages = append(pages, fmt.Sprintf(".BR %s (%d)", roff(manName(to)), section(to)))
		}
	}
	add(cmd.Parent())
	for _, sub := range cmd.Commands() {
		add(sub)
	}
	for name := range strings.SplitSeq(cmd.Annotations[seeAlso], ", ") {
		if to, _, err := cmd.Root().Find(strings.Fields(name)); err == nil && to != cmd.Root() {
			add(to)
		}
	}
	slices.Sort(pages)
	return strings.Join(slices.Compact(pages), " ,\n")
}

// literal keeps lines as they are.
func literal(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = roff(line)
	}
	return ".nf\n" + strings.Join(lines, "\n") + "\n.fi\n"
}

// roff escapes what man would take for an instruction.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
