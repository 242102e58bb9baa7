package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/zaplog"
)

// Program surrounds the commands: common flags, variables, the log and the exit status.
type Program struct {
	*ui.App

	logLevel, logFormat string
	flush               func() error
}

// New is a program before its arguments are read.
func New(environ []string, in io.Reader, out, errOut io.Writer) *Program {
	return &Program{
		App: &ui.App{
			Env: ui.ParseEnv(environ), In: in, Out: out, ErrOut: errOut, Logger: slog.New(slog.DiscardHandler),
		},
		flush: func() error { return nil },
	}
}

// Run carries out the command that args name, and returns the exit status.
func (p *Program) Run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(append([]string{}, args...)) // nil would be the arguments of whatever process this is
	return p.exit(root.ExecuteContext(ctx))
}

// prepare runs before every command: variables, then the logger they configure.
func (p *Program) prepare(cmd *cobra.Command, _ []string) error {
	for _, typo := range ui.Typos(p.Env, knownVars(cmd.Root())) {
		fmt.Fprintf(p.ErrOut, "lockscope: unknown variable %s: did you mean %s?\n", typo.Name, typo.Meant)
	}
	for _, name := range ui.UnreadVars(cmd.Flags(), p.Env) {
		fmt.Fprintf(p.ErrOut, "lockscope: ignored %s: set this flag on the command line\n", name)
	}
	if err := ui.ApplyEnv(cmd.Flags(), p.Env); err != nil {
		return err
	}
	logger, flush, err := zaplog.New(p.ErrOut, zaplog.WithLevel(p.logLevel), zaplog.WithFormat(p.logFormat))
	if err != nil {
		return fmt.Errorf("--log.level, --log.format: %w", err)
	}
	p.Logger, p.flush = logger, flush
	return nil
}

func knownVars(root *cobra.Command) []string {
	known := append(ui.SecretVars(), ui.GrantVars()...)
	for _, cmd := range append(Subcommands(root), root) {
		add := func(f *pflag.Flag) { known = append(known, ui.VariableName(f.Name)) }
		cmd.LocalFlags().VisitAll(add)
		cmd.PersistentFlags().VisitAll(add)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// Subcommands are all commands below root, and those below them.
func Subcommands(root *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range root.Commands() {
		all = append(append(all, cmd), Subcommands(cmd)...)
	}
	return all
}

// exit reports err and returns the status it stands for.
func (p *Program) exit(err error) int {
	_ = p.flush() // syncing a pipe or a terminal may fail, and nothing can report it
	if err == nil {
		return ui.ExitClean
	}
	status := ui.ExitError
	var with *ui.StatusError
	if errors.As(err, &with) {
		if status = with.Status; with.Err == nil {
			return status
		}
	}
	for line := range strings.SplitSeq(inFlags(err.Error()), "\n") { // joined errors have a line each
		fmt.Fprintf(p.ErrOut, "lockscope: %s\n", ui.Printable(line))
	}
	for _, advice := range connectionAdvice(err) {
		fmt.Fprintf(p.ErrOut, "lockscope: -> %s\n", advice)
	}
	return status
}
