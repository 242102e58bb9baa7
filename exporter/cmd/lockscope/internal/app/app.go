package app

import (
	"errors"
	"io"
	"log/slog"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

// App is the outside world of a command.
type App struct {
	Env    flags.Env
	In     io.Reader
	Out    io.Writer
	ErrOut io.Writer
	Logger *slog.Logger // set by --log.level and --log.format before a command runs
}

// ErrInterrupted ends a command that a signal interrupted.
var ErrInterrupted = errors.New("interrupted")
