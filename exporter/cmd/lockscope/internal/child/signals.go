package child

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

// SignalError means that a signal asked this process to end.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return fmt.Sprintf("ended by a signal: %v", e.Signal) }

// Signals are those that this process gets. While a command runs, they are passed on to it.
type Signals struct {
	raw, passed chan os.Signal
	ctx         context.Context
	cancel      context.CancelCauseFunc
	done        chan struct{}
}

// Listen begins to receive signals: none of them ends this process from now on. A signal that was ignored before, as
// nohup does, stays ignored. The caller ends it with Stop.
func Listen() *Signals {
	s := &Signals{raw: make(chan os.Signal, 16), passed: make(chan os.Signal, 16), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	for _, sig := range Passed() {
		if !signal.Ignored(sig) {
			signal.Notify(s.raw, sig)
		}
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
