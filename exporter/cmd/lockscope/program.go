package main

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

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/exporter/zaplog"
)

// wholeProgram is what is round the commands: flags that all have, variables, the log, and the exit status.
type wholeProgram struct {
	*app

	logLevel, logFormat string
	flush               func() error
}

func newProgram(environ []string, in io.Reader, out, errOut io.Writer) *wholeProgram {
	return &wholeProgram{
		app: &app{
			env: flags.ParseEnv(environ), in: in, out: out, errOut: errOut, logger: slog.New(slog.DiscardHandler),
		},
		flush: func() error { return nil },
	}
}

// run carries out the command that args name, and returns the exit status.
func (p *wholeProgram) run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(append([]string{}, args...)) // nil would be the arguments of whatever process this is
	return p.exit(root.ExecuteContext(ctx))
}

// prepare runs before every command: variables, then the logger they configure.
func (p *wholeProgram) prepare(cmd *cobra.Command, _ []string) error {
	for _, typo := range flags.Typos(p.env, knownVars(cmd.Root())) {
		fmt.Fprintf(p.errOut, "lockscope: %s is set and nothing reads it: is %s meant?\n", typo.Name, typo.Meant)
	}
	for _, name := range flags.Unread(cmd.Flags(), p.env) {
		fmt.Fprintf(p.errOut, "lockscope: %s is set and not read: that flag counts on the command line only\n", name)
	}
	if err := flags.Apply(cmd.Flags(), p.env); err != nil {
		return err
	}
	logger, flush, err := zaplog.New(p.errOut, zaplog.WithLevel(p.logLevel), zaplog.WithFormat(p.logFormat))
	if err != nil {
		return fmt.Errorf("--log.level, --log.format: %w", err)
	}
	p.logger, p.flush = logger, flush
	return nil
}

func knownVars(root *cobra.Command) []string {
	known := secretVars()
	for _, cmd := range append(subcommands(root), root) {
		add := func(f *pflag.Flag) { known = append(known, flags.Name(f.Name)) }
		cmd.LocalFlags().VisitAll(add)
		cmd.PersistentFlags().VisitAll(add)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// subcommands are all commands below root, and those below them.
func subcommands(root *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range root.Commands() {
		all = append(append(all, cmd), subcommands(cmd)...)
	}
	return all
}

// exit reports err and returns the status it stands for.
func (p *wholeProgram) exit(err error) int {
	_ = p.flush() // syncing a pipe or a terminal may fail, and nobody is left to tell
	if err == nil {
		return exitClean
	}
	status := exitError
	var with *statusError
	if errors.As(err, &with) {
		if status = with.status; with.err == nil {
			return status
		}
	}
	for line := range strings.SplitSeq(inFlags(err.Error()), "\n") { // joined errors have a line each
		fmt.Fprintf(p.errOut, "lockscope: %s\n", table.Printable(line))
	}
	for _, advice := range connectionAdvice(err) {
		fmt.Fprintf(p.errOut, "lockscope: -> %s\n", advice)
	}
	return status
}
