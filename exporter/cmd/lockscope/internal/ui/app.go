package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"
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
