package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pageWidth is how wide a page is, in columns.
const pageWidth = 100

// group is flags that belong together.
type group struct {
	title string
	flags []*pflag.Flag
}

// allGroups are all flags that a command takes.
func allGroups(cmd *cobra.Command) []group {
	return append(groups(cmd.LocalFlags(), nil), groups(cmd.InheritedFlags(), nil)...)
}

// groups are flags in the order of their registration: those named, or all of them.
func groups(set *pflag.FlagSet, names []string) (all []group) {
	add := func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" || len(names) > 0 && !slices.Contains(names, f.Name) {
			return
		}
		title := GroupOf(f)
		at := slices.IndexFunc(all, func(g group) bool { return g.title == title })
		if at < 0 {
			all, at = append(all, group{title: title}), len(all)
		}
		all[at].flags = append(all[at].flags, f)
	}
	set.VisitAll(add)
	return all
}

func count(all []group) (n int) {
	for _, g := range all {
		n += len(g.flags)
	}
	return n
}

// writeShort has one line for each flag: the first sentence of its usage.
func writeShort(b *strings.Builder, all []group) {
	width := 0
	for _, g := range all {
		for _, f := range g.flags {
			width = max(width, len(spec(f)))
		}
	}
	for _, g := range all {
		fmt.Fprintf(b, "\n%s:\n", g.title)
		for _, f := range g.flags {
			usage, _, _ := strings.Cut(usageOf(f), ". ")
			fmt.Fprintf(b, "  %-*s  %s%s\n", width, spec(f), usage, defaultOf(f))
		}
	}
}

// writeLong has the whole usage of each flag, its default and its variable.
func writeLong(b *strings.Builder, all []group) {
	const indent = "          "
	for _, g := range all {
		fmt.Fprintf(b, "\n%s:\n", g.title)
		for _, f := range g.flags {
			text := usageOf(f) + defaultOf(f)
			if name, ok := Variable(f); ok {
				text += " [$" + name + "]"
			}
			fmt.Fprintf(b, "  %s\n", spec(f))
			for _, line := range fold(text, pageWidth-len(indent)) {
				fmt.Fprintf(b, "%s%s\n", indent, line)
			}
		}
	}
}

// spec is a flag as it is typed: "-r, --redis URL".
func spec(f *pflag.Flag) string {
	short := "    "
	if f.Shorthand != "" {
		short = "-" + f.Shorthand + ", "
	}
	kind, _ := pflag.UnquoteUsage(f)
	return strings.TrimRight(short+"--"+f.Name+" "+kind, " ")
}

func usageOf(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	return usage
}

// defaultOf is empty for a flag that is off or empty unless it is given.
func defaultOf(f *pflag.Flag) string {
	text := f.DefValue
	if slices.Contains([]string{"", "0", "0s", "false", "[]"}, text) || strings.Contains(f.Usage, "(default ") {
		return ""
	}
	return " (default " + shortDuration(text) + ")"
}

// shortDuration drops the zeros at the end: 24h for 24h0m0s.
func shortDuration(text string) string {
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// fold breaks text into lines at blanks.
func fold(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// groupName marks a flag with the heading that help shows it under.
const groupName = "lockscope_group"

// Headings of flags that several commands have.
const (
	Servers = "Servers"
	TLS     = "TLS"
	Search  = "Search"
	Result  = "Result"
	Load    = "Load and limits"
	Alerts  = "Notification"
	Repair  = "Repair"
	Logging = "Logging"
)

// Group puts flags under a heading. It panics for a flag that set does not have.
func Group(set *pflag.FlagSet, heading string, names ...string) {
	for _, name := range names {
		if err := set.SetAnnotation(name, groupName, []string{heading}); err != nil {
			panic(err)
		}
	}
}

// GroupOf is the heading of a flag.
func GroupOf(f *pflag.Flag) string {
	if heading := f.Annotations[groupName]; len(heading) > 0 {
		return heading[0]
	}
	return "Flags"
}
