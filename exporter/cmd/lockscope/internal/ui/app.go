// Package ui is what all commands share: common flags, their environment variables, help, output as a table or as JSON,
// metrics of a command that ends, progress, errors in the terms of the command line, and exit statuses. It knows no
// command.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/zaplog"
)

// App is the outside world of a command.
type App struct {
	Env    Env
	In     io.Reader
	Out    io.Writer
	ErrOut io.Writer
	Logger *slog.Logger // set by --log.level and --log.format before a command runs

	logLevel, logFormat string
	flush               func() error
}

// ErrInterrupted ends a command that a signal interrupted.
var ErrInterrupted = errors.New("interrupted")

// NoArguments does not repeat the argument: it may be a URL with a password.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes flags only, not %d arguments: name servers with --redis URL",
		cmd.CommandPath(), len(args))
}

// The exit statuses.
const (
	ExitClean    = 0
	ExitFindings = 1
	ExitError    = 2
	// ExitIncomplete is a scan that found nothing and is not proved to have read all.
	ExitIncomplete = 3
)

// StatusError ends the program with a status of its own. A nil err means that
// everything has been said already.
type StatusError struct {
	Status int
	Err    error
}

// Error is what there is to say.
func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap implements errors.Unwrap.
func (e *StatusError) Unwrap() error { return e.Err }

// Every calls f again and again, each time that d is over. After stop it does not run any more.
func Every(d time.Duration, f func()) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	var calling sync.WaitGroup
	calling.Go(func() {
		for Pause(ctx, d) {
			f()
		}
	})
	return func() { end(); calling.Wait() }
}

// Pause waits for d. It returns false as soon as ctx ends.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// New is the outside of the commands before the arguments are read.
func New(environ []string, in io.Reader, out, errOut io.Writer) *App {
	return &App{
		Env: ParseEnv(environ), In: in, Out: out, ErrOut: errOut, Logger: slog.New(slog.DiscardHandler),
		flush: func() error { return nil },
	}
}

// Run carries out the command that args name, and returns the exit status.
func (a *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(append([]string{}, args...)) // nil would be the arguments of whatever process this is
	return a.exit(root.ExecuteContext(ctx))
}

// prepare runs before every command: variables, then the logger they configure.
func (a *App) prepare(cmd *cobra.Command, _ []string) error {
	for _, typo := range Typos(a.Env, knownVars(cmd.Root())) {
		fmt.Fprintf(a.ErrOut, "lockscope: unknown variable %s: did you mean %s?\n", typo.Name, typo.Meant)
	}
	for _, name := range UnreadVars(cmd.Flags(), a.Env) {
		fmt.Fprintf(a.ErrOut, "lockscope: ignored %s: set this flag on the command line\n", name)
	}
	if err := ApplyEnv(cmd.Flags(), a.Env); err != nil {
		return err
	}
	logger, flush, err := zaplog.New(a.ErrOut, zaplog.WithLevel(a.logLevel), zaplog.WithFormat(a.logFormat))
	if err != nil {
		return fmt.Errorf("--log.level, --log.format: %w", err)
	}
	a.Logger, a.flush = logger, flush
	return nil
}

func knownVars(root *cobra.Command) []string {
	known := append(SecretVars(), GrantVars()...)
	for _, cmd := range append(Subcommands(root), root) {
		add := func(f *pflag.Flag) { known = append(known, VariableName(f.Name)) }
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
func (a *App) exit(err error) int {
	_ = a.flush() // syncing a pipe or a terminal may fail, and nothing can report it
	if err == nil {
		return ExitClean
	}
	status := ExitError
	var with *StatusError
	if errors.As(err, &with) {
		if status = with.Status; with.Err == nil {
			return status
		}
	}
	for line := range strings.SplitSeq(inFlags(err.Error()), "\n") { // joined errors have a line each
		fmt.Fprintf(a.ErrOut, "lockscope: %s\n", Printable(line))
	}
	for _, advice := range allAdvice(err) {
		fmt.Fprintf(a.ErrOut, "lockscope: -> %s\n", advice)
	}
	return status
}

// Root completes the command above all others.
func (a *App) Root(root *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.PersistentPreRunE, root.SilenceErrors, root.SilenceUsage = a.prepare, true, true
	root.SetFlagErrorFunc(badFlag)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.ErrOut)
	root.SetVersionTemplate("lockscope {{.Version}}\n")
	set := root.PersistentFlags()
	set.StringVar(&a.logLevel, "log.level", "info", "lowest `level` to log: debug, info, warn or error")
	set.StringVar(&a.logFormat, "log.format", "console", "`format` of the log on standard error: console or json")
	Group(set, Logging, "log.level", "log.format")
	root.AddCommand(commands...)
	for _, cmd := range append(Subcommands(root), root) {
		cmd.SuggestionsMinimumDistance = 2
		switch {
		case cmd.Args != nil:
		case cmd.HasSubCommands():
			cmd.Args = noCommand
		default:
			cmd.Args = NoArguments
		}
		cmd.Flags().SortFlags = false
		AllowDays(cmd.Flags())
	}
	InstallHelp(root)
	return root
}
