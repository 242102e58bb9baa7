package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// commandTree returns all commands of lockscope, with those that cobra adds, before arguments are parsed.
func commandTree() *cobra.Command {
	root := newRoot(ui.New(nil, nil, nil, nil))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// TestHelpFitsAScreen of 40 lines and 100 columns, with the purpose, the usage and the examples.
func TestHelpFitsAScreen(t *testing.T) {
	root := commandTree()
	for _, cmd := range append(ui.Subcommands(root), root) {
		if cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		o := command(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		o.Want(t, ui.ExitClean, "Usage: lockscope", cmd.Long, cmd.Example)
		lines := strings.Split(strings.TrimSuffix(o.Out, "\n"), "\n")
		if len(lines) > 40 {
			t.Errorf("%s --help has %d lines", cmd.CommandPath(), len(lines))
		}
		wantReadable(t, cmd.CommandPath()+" --help", lines)
	}
}

// puzzling lists words that make a reader read a sentence twice.
var puzzling = regexp.MustCompile(`(?i)\b(whoever|told|noticed|in vain|of whom|which ones? counts?)\b`)

// wantReadable checks a page: 100 columns, plain words.
func wantReadable(t *testing.T, of string, lines []string) {
	t.Helper()
	for _, line := range lines {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%s: %d columns: %s", of, n, line)
		}
		if word := puzzling.FindString(line); word != "" {
			t.Errorf("%s says %q: %s", of, word, line)
		}
	}
}

// TestTopics: the list of commands names each topic, and every topic that a page refers to exists.
func TestTopics(t *testing.T) {
	root := commandTree()
	overview := command(t, "help")
	overview.Want(t, ui.ExitClean)
	for _, cmd := range ui.Subcommands(root) {
		if cmd.IsAdditionalHelpTopicCommand() {
			o := command(t, append([]string{"help"}, strings.Fields(cmd.CommandPath())[1:]...)...)
			o.Want(t, ui.ExitClean)
			if len(o.Out) < 50 {
				t.Errorf("%s says nothing: %s", cmd.CommandPath(), o.Out)
			}
			wantReadable(t, cmd.CommandPath(), strings.Split(o.Out, "\n"))
			if cmd.Parent() == root && !strings.Contains(overview.Out, "  "+cmd.Name()+" ") {
				t.Errorf("lockscope help does not name %s", cmd.Name())
			}
		}
		for name := range strings.SplitSeq(cmd.Annotations["lockscope_see_also"], ", ") {
			if about, rest, err := root.Find(strings.Fields(name)); name != "" && (err != nil || about == root ||
				len(rest) > 0) {
				t.Errorf("%s refers to %s, which is not there", cmd.CommandPath(), name)
			}
		}
	}
}

// TestEveryFlagIsDocumented on the page of the command's flags, with its variable.
func TestEveryFlagIsDocumented(t *testing.T) {
	for _, cmd := range ui.Subcommands(newRoot(ui.New(nil, nil, nil, nil))) {
		path := strings.Fields(cmd.CommandPath())[1:]
		if cmd.IsAdditionalHelpTopicCommand() || !cmd.HasAvailableLocalFlags() || cmd.Hidden {
			continue
		}
		page := strings.Join(strings.Fields(command(t, append([]string{"help", "flags"}, path...)...).Out), " ") + " "
		check := func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			if !strings.Contains(page, " --"+f.Name+" ") {
				t.Errorf("%s: --%s is on no page", cmd.Name(), f.Name)
			}
			only := []string{"repair", "yes", "min-age", "connect", "reason", "terminate", "readers", "reader"}
			if slices.Contains(only, f.Name) {
				return // only on the command line; see scan_repair_environment.txtar
			}
			if !strings.Contains(page, "[$"+ui.VariableName(f.Name)+"]") {
				t.Errorf("%s: --%s does not name %s", cmd.Name(), f.Name, ui.VariableName(f.Name))
			}
		}
		cmd.LocalFlags().VisitAll(check)
		cmd.InheritedFlags().VisitAll(check)
	}
	command(t, "help", "environment").Want(t, ui.ExitClean, append(ui.SecretVars(), "LOCKSCOPE_LOG_LEVEL")...)
}

// TestExamples parses the command lines of all examples, and runs none.
func TestExamples(t *testing.T) {
	for _, cmd := range append(ui.Subcommands(commandTree()), commandTree()) {
		for line := range strings.Lines(cmd.Example) {
			checkExample(t, line)
		}
	}
}

func checkExample(t *testing.T, line string) {
	t.Helper()
	text, _, _ := strings.Cut(line, "#")
	text, _, _ = strings.Cut(text, "|")
	text, _, _ = strings.Cut(text, ">")
	args := regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(strings.ReplaceAll(text, "'", ""), -1)
	if len(args) == 0 || args[0] != "lockscope" {
		t.Errorf("%q is no command line", line)
		return
	}
	cmd, rest, err := commandTree().Find(args[1:])
	cmdtest.Must(t, err)
	if err := cmd.ParseFlags(rest); err != nil || !cmd.HasParent() || cmd.ValidateArgs(cmd.Flags().Args()) != nil {
		t.Errorf("%q: %v, arguments %q", line, err, cmd.Flags().Args())
	}
}
