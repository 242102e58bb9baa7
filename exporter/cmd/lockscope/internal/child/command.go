package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// Exit statuses of a command that did not run, as shells have them.
const (
	ExitCannotRun = 126
	ExitNotFound  = 127
)

// outputDelay is how long output of a command that has ended may take, where it is no file.
const outputDelay = time.Second

// Shared lets lockscope and a command write to the same place. A file needs no help.
func Shared(w io.Writer) io.Writer {
	if _, file := w.(*os.File); file {
		return w
	}
	return &shared{w: w}
}

type shared struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// Command is what to run. Files are passed on as they are.
type Command struct {
	Args     []string
	Env      []string
	In       io.Reader
	Out, Err io.Writer
}

// Check fails as Start would if the program is not there, or may not be executed.
func (c Command) Check() error {
	_, err := exec.LookPath(c.Args[0])
	return startError(c.Args[0], err)
}

func (c Command) cmd() *exec.Cmd {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.In, c.Out, c.Err
	cmd.WaitDelay = outputDelay
	return cmd
}

// startError gives an error the exit status that a shell gives it.
func startError(program string, err error) error {
	if err == nil {
		return nil
	}
	status := ExitCannotRun
	if isNotFound(err) {
		status = ExitNotFound
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return &ui.StatusError{Status: status, Err: fmt.Errorf("cannot run %q: %w", program, err)}
}
