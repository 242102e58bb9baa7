package servers

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

// line is a system that is made when it is asked something, and anew after a failure. One question is asked at a
// time.
type line struct {
	life   context.Context // ends what is asked
	make   maker
	turn   chan struct{} // has one element while nothing is asked
	b      Other
	closed bool
}

func newLine(life context.Context, m maker) *line {
	l := &line{life: life, make: m, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// ask asks a second time if a connection that was there before has failed: its server may have ended meanwhile. One
// that hung is not asked again.
func (l *line) ask(ctx context.Context, question func(context.Context, Other) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	select {
	case <-l.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { l.turn <- struct{}{} }()
	if l.closed {
		return scanner.ErrClosed
	}
	before, began := l.b != nil, time.Now()
	err := l.once(ctx, question)
	if err != nil && before && ctx.Err() == nil && time.Since(began) < inspect.DialTimeout {
		err = l.once(ctx, question)
	}
	return err
}

func (l *line) once(ctx context.Context, question func(context.Context, Other) error) (err error) {
	if l.b == nil {
		if l.b, err = l.make(); err != nil {
			return err
		}
	}
	if err = question(ctx, l.b); err != nil {
		l.hangUp()
	}
	return err
}

func (l *line) hangUp() {
	if l.b != nil {
		l.b.Close()
		l.b = nil
	}
}

// close waits for a question that is being asked.
func (l *line) close() {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	l.closed = true
	l.hangUp()
}
