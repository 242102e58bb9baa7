package child

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// SignalError means that a signal asked this process to end.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "stopped by " + nameOf(e.Signal) }

// Context is the context of this process. It ends with the first SIGINT or SIGTERM, whose *SignalError is its cause;
// a second signal kills the process.
func Context() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	first := make(chan os.Signal, 1)
	signal.Notify(first, os.Interrupt, syscall.SIGTERM)
	go func() { // it ends with the process
		sig := <-first
		signal.Stop(first)
		cancel(&SignalError{sig})
	}()
	return ctx
}

// Signals are those that this process gets. While a command runs, they are passed on to it.
type Signals struct {
	raw, passed chan os.Signal
	ctx         context.Context
	cancel      context.CancelCauseFunc
	done        chan struct{}
	unlink      func() bool // from the context of the process
}

// Listen begins to receive signals: none of them ends this process from now on. A signal that was ignored before, as
// nohup does, stays ignored. A signal that ended ctx, the context of the process, before Listen counts as well. The
// caller ends it with Stop.
func Listen(ctx context.Context) *Signals {
	s := &Signals{raw: make(chan os.Signal, 16), passed: make(chan os.Signal, 16), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	for _, sig := range Passed() {
		if !signal.Ignored(sig) {
			signal.Notify(s.raw, sig)
		}
	}
	s.unlink = context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	if ctx.Err() != nil {
		s.cancel(context.Cause(ctx)) // before the caller goes on
	}
	go s.sort()
	return s
}

// sort drops signals while the command has not taken sixteen earlier ones.
func (s *Signals) sort() {
	defer close(s.done)
	for sig := range s.raw {
		if Ends(sig) {
			s.cancel(&SignalError{sig})
		}
		select {
		case s.passed <- sig:
		default:
		}
	}
}

// Context ends with the first signal that asks this process to end. Its cause is a *SignalError.
func (s *Signals) Context() context.Context { return s.ctx }

// Stop ends Listen, and Context.
func (s *Signals) Stop() {
	s.unlink()
	signal.Stop(s.raw)
	close(s.raw)
	<-s.done
	s.cancel(nil)
}

// forget drops signals of the time before a command.
func (s *Signals) forget() {
	for {
		select {
		case <-s.passed:
		default:
			return
		}
	}
}
