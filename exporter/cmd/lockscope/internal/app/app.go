package app

import (
	"errors"
	"io"
	"log/slog"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

// App is what commands are given of the outside world.
type App struct {
	Env    flags.Env
	In     io.Reader
	Out    io.Writer
	ErrOut io.Writer
	Logger *slog.Logger // as --log.level and --log.format have it once a command runs
}

// ErrInterrupted is of a command that a signal ended.
var ErrInterrupted = errors.New("interrupted")
