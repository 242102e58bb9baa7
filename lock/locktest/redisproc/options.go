package redisproc

import (
	"slices"
	"strconv"
)

// Option changes how a server is started.
type Option func(*config)

// WithArgs adds arguments to the command line, after the defaults, so that they win:
//
//	redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always")
func WithArgs(args ...string) Option {
	return func(c *config) { c.extra = append(c.extra, args...) }
}

// WithPort makes the server listen on the given port instead of a free one. If it is taken, starting fails.
func WithPort(port int) Option {
	return func(c *config) { c.port = port }
}

// WithEnv adds "NAME=value" to the server's environment, which is this program's otherwise.
func WithEnv(env ...string) Option {
	return func(c *config) { c.env = append(c.env, env...) }
}

// config is what the options add up to.
type config struct {
	port  int // 0: a free one
	extra []string
	env   []string

	// prepare writes what the server needs into its directory, once, and returns the command line.
	prepare func(dir string, port int) ([]string, error)
}

func newConfig(opts []Option) config {
	c := config{}
	c.prepare = func(_ string, port int) ([]string, error) { return commandLine(port, c.extra), nil }
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// commandLine needs no --dir: redis-server works in its current directory, and launch sets that.
func commandLine(port int, extra []string) []string {
	return slices.Concat([]string{
		"--bind", loopback,
		"--port", strconv.Itoa(port),
		"--protected-mode", "yes",
		"--daemonize", "no",
		"--save", "",
		"--appendonly", "no",
	}, extra)
}
