package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

// app is what commands are given of the outside world.
type app struct {
	env    flags.Env
	in     io.Reader
	out    io.Writer
	errOut io.Writer
	logger *slog.Logger // as --log.level and --log.format have it once a command runs
}

// errInterrupted is of a command that a signal ended.
var errInterrupted = errors.New("interrupted")
