package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// stopGrace is how long Stop waits for an orderly exit. With nothing to save that takes milliseconds; a server that
// waits for a replica or is stuck in a script takes longer than anybody wants to wait.
const stopGrace = 3 * time.Second

// ErrNotRunning is the error of Pause and Resume when there is no process to act on.
var ErrNotRunning = errors.New("redisproc: server is not running")

var (
	errRunning = errors.New("redisproc: server is running: Kill it before Wipe")
	errStopped = errors.New("redisproc: server was stopped for good")
)

// Pause freezes the process: connections stay open, new ones are even accepted by the kernel, but nothing is answered
// until Resume. It returns when the process has really come to a halt, so no command sent afterwards is executed before
// Resume. Time does not stop: keys go on expiring.
func (s *Server) Pause() error {
	return s.control("pause", (*process.Process).Freeze)
}

// Resume lets a paused process go on. It then answers what has piled up in its sockets. On one that is not paused it
// does nothing.
func (s *Server) Resume() error {
	return s.control("resume", (*process.Process).Thaw)
}

func (s *Server) control(what string, act func(*process.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := act(s.current.Load())
	switch {
	case errors.Is(err, process.ErrExited):
		return ErrNotRunning
	case err != nil:
		return fmt.Errorf("redisproc: %s: %w", what, err)
	default:
		return nil
	}
}

// Kill ends the process with SIGKILL, paused or not, and returns when it is gone: what was not on disk is lost. Killing
// a server that is not running does nothing.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.Load().Kill()
}

// Restart starts the process again on the same port, in the same directory, with the same arguments, and returns when
// it answers PING, under the same bounds as [Start]. It kills the process first if it still runs. After an error the
// server is not running and may be restarted again.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errStopped
	}
	if err := s.current.Load().Kill(); err != nil {
		return err
	}
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("redisproc: %s did not restart: %w", s.Addr(), err)
	}
	return nil
}

// Wipe deletes what the server has stored in its directory, all but the log, as if its disk had been replaced. A
// cluster node loses its membership too. It is an error to wipe a running server.
func (s *Server) Wipe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Running() {
		return errRunning
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("redisproc: wipe: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != logName+".log" {
			errs = append(errs, os.RemoveAll(filepath.Join(s.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// Stop ends the server for good and removes its directory. It asks for an orderly exit first and kills the process if
// it is still there 3 seconds later. Stopping again, also concurrently, is fine.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	err := s.current.Load().StopWithin(stopGrace)
	if errors.Is(err, process.ErrKilled) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(s.dir), s.reserved.Release())
}
