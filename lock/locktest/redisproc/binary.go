package redisproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaryEnv overrides the search on the PATH.
const binaryEnv = "LOCKSCOPE_REDIS_SERVER"

// ErrNotInstalled says how to get a redis-server. [Available] and every Start function join it into their error when
// there is none to run.
var ErrNotInstalled = errors.New(
	`redisproc: no redis-server: install with "apt-get install redis-server" (Debian/Ubuntu), ` +
		`"brew install redis" (macOS), or set ` + binaryEnv + `=/path/to/redis-server`)

// Available returns nil if there is a redis-server to run, else an error that matches [ErrNotInstalled]. It only looks
// for the binary, it does not run it.
func Available() error {
	_, err := binary()
	return err
}

// binary returns an absolute path, because servers run in a directory of their own.
func binary() (string, error) {
	name := os.Getenv(binaryEnv)
	if name == "" {
		name = "redis-server"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrNotInstalled, err)
	}
	return filepath.Abs(path)
}
