package exporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lockscope/lockscope/lock"
)

// LockCheck makes a check for WithReadyCheck of whether locks can be had: it takes a lock called
// name, without waiting, and gives it back. Nodes that answer and may not vote fail it, as
// a PING would not. The name should be this process' own, "ready:"+instance perhaps; a leftover
// of a check before, which is held, proves as much as a lock that is free. l is best the Locker
// inside of the decorators: a check is no traffic.
func LockCheck(l lock.Locker, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := lock.Do(ctx, l, name, func(context.Context, lock.Lease) error { return nil }, lock.NoWait(), lock.NoRenew())
		if errors.Is(err, lock.ErrHeld) {
			return nil
		}
		return err
	}
}

// check is one condition of readiness.
type check struct {
	name string
	fn   func(context.Context) error

	mu      sync.Mutex
	current *checkRun // under way; nil if none is
}

type checkRun struct {
	done chan struct{}
	err  error // valid once done is closed
}

// run calls fn, or joins the call under way, and waits at most for timeout: a check
// that ignores its context must neither hang the answer nor pile up.
func (c *check) run(timeout time.Duration) error {
	r := c.join(timeout)
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-r.done:
		return r.err
	case <-late.C:
		return fmt.Errorf("no answer within %v", timeout)
	}
}

func (c *check) join(timeout time.Duration) *checkRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		c.current = &checkRun{done: make(chan struct{})}
		go c.call(c.current, timeout)
	}
	return c.current
}

func (c *check) call(r *checkRun, timeout time.Duration) {
	// Several requests may be waiting: none of their contexts may end it.
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("the check panicked")
		}
		c.mu.Lock()
		c.current = nil
		c.mu.Unlock()
		close(r.done)
	}()
	r.err = c.fn(ctx)
}

// healthz says that the process answers. It looks at nothing else: to restart a
// process does not heal a Redis.
func (e *Exporter) healthz(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") }

func (e *Exporter) readyz(w http.ResponseWriter, _ *http.Request) {
	failures := e.failures()
	if len(failures) == 0 {
		plain(w, http.StatusOK, "ready\n")
		return
	}
	plain(w, http.StatusServiceUnavailable, "not ready\n"+strings.Join(failures, ""))
}

// failures is a line for each reason not to be ready.
func (e *Exporter) failures() []string {
	if why := e.phase(); why != "" {
		return []string{why + "\n"}
	}
	all := make([]string, len(e.cfg.checks))
	var wg sync.WaitGroup
	for i, c := range e.cfg.checks {
		wg.Go(func() {
			if err := c.run(e.cfg.checkTimeout); err != nil {
				all[i] = c.name + ": " + oneLine(err.Error()) + "\n"
			}
		})
	}
	wg.Wait()
	failed := all[:0]
	for _, line := range all {
		if line != "" {
			failed = append(failed, line)
		}
	}
	return failed
}

// phase says why the Exporter is not ready by itself; empty if it is.
func (e *Exporter) phase() string {
	select {
	case <-e.draining:
		return "server: shutting down"
	default:
	}
	if !e.cfg.ownServer && !e.listening.Load() {
		return "server: not listening yet"
	}
	return ""
}

func plain(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client has gone: nobody to tell
}

// oneLine keeps what others wrote from forging lines and from reaching a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
