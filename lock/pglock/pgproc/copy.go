package pgproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ShutDown ends the server as its administrator does: sessions are cut off, and all that was committed is in the data
// files. It does nothing if the server does not run. It fails if ctx ends first; the server then still runs, or ends.
func (s *Server) ShutDown(ctx context.Context) error {
	if s.process == nil || !s.process.Running() {
		return nil
	}
	if err := s.process.Signal(os.Interrupt); err != nil {
		return err
	}
	select {
	case <-s.process.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pgproc: the server has not shut down: %w", context.Cause(ctx))
	}
}

// Copy creates a server with the data of s, which has to be shut down, and returns when it accepts connections. That takes
// a fraction of what Start does. s stays as it is; several Copy calls may run at once. Options are as for Start.
func (s *Server) Copy(ctx context.Context, options ...string) (*Server, error) {
	if s.process != nil && s.process.Running() {
		return nil, errors.New("pgproc: a server that runs cannot be copied: call ShutDown first")
	}
	return create(ctx, s.who, options, func(to *Server) error {
		if out, err := exec.CommandContext(ctx, "cp", "-a", s.data(), to.data()).CombinedOutput(); err != nil {
			return fmt.Errorf("copy the data of a server: %w\n%s", err, out)
		}
		return nil
	})
}
