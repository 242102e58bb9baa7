package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/exporter/zaplog"
)

// The exit statuses.
const (
	exitClean    = 0
	exitFindings = 1
	exitError    = 2
	// exitIncomplete is a scan that found nothing and is not proved to have read all.
	exitIncomplete = 3
)

// statusError ends the program with a status of its own. A nil err means that
// everything has been said already.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// app is what the commands share: the outside world and the flags they have in common.
type app struct {
	env    flags.Env
	in     io.Reader
	out    io.Writer
	errOut io.Writer

	logLevel, logFormat string
	logger              *slog.Logger
	flush               func() error
}

func newApp(environ []string, in io.Reader, out, errOut io.Writer) *app {
	return &app{
		env: flags.ParseEnv(environ), in: in, out: out, errOut: errOut,
		logger: slog.New(slog.DiscardHandler), flush: func() error { return nil },
	}
}

// secretVars are the variables without a flag: a command line is no place for secrets.
func secretVars() []string {
	return []string{varRedisPassword, varSentinelPassword, varPostgresPassword, varEtcdPassword, varZooKeeperAuth}
}

// prepare runs before every command: variables, then the logger they configure.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	for _, typo := range flags.Typos(a.env, knownVars(cmd.Root())) {
		fmt.Fprintf(a.errOut, "lockscope: %s is set and nothing reads it: is %s meant?\n", typo.Name, typo.Meant)
	}
	for _, name := range flags.Unread(cmd.Flags(), a.env) {
		fmt.Fprintf(a.errOut, "lockscope: %s is set and not read: that flag counts on the command line only\n", name)
	}
	if err := flags.Apply(cmd.Flags(), a.env); err != nil {
		return err
	}
	logger, flush, err := zaplog.New(a.errOut, zaplog.WithLevel(a.logLevel), zaplog.WithFormat(a.logFormat))
	if err != nil {
		return fmt.Errorf("--log.level, --log.format: %w", err)
	}
	a.logger, a.flush = logger, flush
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
func (a *app) exit(err error) int {
	_ = a.flush() // syncing a pipe or a terminal may fail, and nobody is left to tell
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
		fmt.Fprintf(a.errOut, "lockscope: %s\n", table.Printable(line))
	}
	for _, advice := range connectionAdvice(err) {
		fmt.Fprintf(a.errOut, "lockscope: -> %s\n", advice)
	}
	return status
}

// terminal returns the width of the terminal that w is, or 0.
func terminal(w any) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// colored reports whether output may carry colours: https://no-color.org.
func (a *app) colored() bool {
	return terminal(a.out) > 0 && a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb"
}
