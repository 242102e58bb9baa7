package inspect

import (
	"context"
	"time"
)

// Open makes an Inspector, and connects to nothing.
type Open func() (Inspector, error)

// Client asks an Inspector that it makes at the first question, and anew after a failure. One question is asked at a
// time. It is safe for concurrent use.
type Client struct {
	life context.Context
	open Open
	turn chan struct{} // has one element while nothing is asked
	in   Inspector
}

// NewClient makes a Client whose questions end with life. Close it after that.
func NewClient(life context.Context, open Open) *Client {
	c := &Client{life: life, open: open, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// Ask asks a second time if a connection that was there before has failed: its server may have ended meanwhile. One
// that hung is not asked again. After the end of the Client's life the error is its cause.
func (c *Client) Ask(ctx context.Context, question func(context.Context, Inspector) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
	}
	if c.life.Err() != nil {
		return context.Cause(c.life)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before, began := c.in != nil, time.Now()
	err := c.once(ctx, question)
	if err != nil && before && ctx.Err() == nil && time.Since(began) < DialTimeout {
		err = c.once(ctx, question)
	}
	return err
}

func (c *Client) once(ctx context.Context, question func(context.Context, Inspector) error) (err error) {
	if c.in == nil {
		if c.in, err = c.open(); err != nil {
			return err
		}
	}
	if err = question(ctx, c.in); err != nil {
		c.hangUp()
	}
	return err
}

func (c *Client) hangUp() {
	if c.in != nil {
		c.in.Close()
		c.in = nil
	}
}

// Close waits for a question that is being asked.
func (c *Client) Close() {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.hangUp()
}
