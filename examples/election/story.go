package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/lock/election"
)

// story is one run of the example.
type story struct {
	config
	out   io.Writer
	began time.Time

	mu         sync.Mutex // for out
	candidates map[string]*exec.Cmd
	reading    sync.WaitGroup
}

func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%6d ms  %s\n", time.Since(s.began).Milliseconds(), fmt.Sprintf(format, args...))
}

// tell starts three candidates and watches who leads, without being one of them. It kills the first leader, asks the
// others to stop, and ends when nobody leads.
func (s *story) tell(ctx context.Context) error {
	observer, err := s.open("observer")
	if err != nil {
		return err
	}
	defer observer.Close()
	for _, name := range []string{"a", "b", "c"} {
		if err := s.start(name); err != nil {
			return err
		}
	}
	terms, vacant := 0, false
	var last election.Observation
	for seen, err := range election.Observe(ctx, observer, "billing", election.Interval(50*time.Millisecond)) {
		switch {
		case err != nil:
			s.say("   cannot tell who leads: %v", err)
		case seen.Vacant:
			if !vacant {
				s.say("   no leader is seen")
			}
			if vacant = true; terms == 3 {
				return nil
			}
		case seen.Term > last.Term:
			terms, vacant, last = terms+1, false, seen
			s.say("   %s is seen to lead in term %d, for %v unless it renews", seen.Leader.Instance, seen.Term,
				time.Until(seen.NotAfter).Round(100*time.Millisecond))
			if err := s.end(seen.Leader.Instance, terms == 1); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// start runs a candidate in a process of its own, and passes on what it says.
func (s *story) start(name string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "-candidate", name, "-redis", strings.Join(s.urls, ","),
		fmt.Sprintf("-fresh=%v", !s.quarantine))
	cmd.Stderr = os.Stderr
	said, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if s.candidates == nil {
		s.candidates = make(map[string]*exec.Cmd)
	}
	s.candidates[name] = cmd
	s.reading.Go(func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			s.say("%s", lines.Text())
		}
	})
	return nil
}

// end kills a candidate, or asks it to stop.
func (s *story) end(name string, kill bool) error {
	cmd := s.candidates[name]
	if cmd == nil {
		return fmt.Errorf("%q leads, which is no process of this example", name)
	}
	if kill {
		time.Sleep(500 * time.Millisecond) // so that the others have queued
		s.say("   kill -KILL %s: its leadership lasts until it expires", name)
		return cmd.Process.Kill()
	}
	s.say("   kill -TERM %s: it resigns", name)
	return cmd.Process.Signal(syscall.SIGTERM)
}

// stopAll ends the candidates that still run.
func (s *story) stopAll() error {
	var errs []error
	for _, cmd := range s.candidates {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	s.reading.Wait()
	for _, cmd := range s.candidates {
		_ = cmd.Wait() // one was killed
	}
	return errors.Join(errs...)
}
