package inspect

import (
	"context"
	"errors"
	"testing"
)

type opened struct {
	Inspector
	closed *int
}

func (o opened) Close() { *o.closed++ }

// TestClientAsksAgain once if a connection that was there before has failed, and not if the first one did.
func TestClientAsksAgain(t *testing.T) {
	life, end := context.WithCancelCause(t.Context())
	opens, closed, asked := 0, 0, 0
	c := NewClient(life, func() (Inspector, error) { opens++; return opened{closed: &closed}, nil })
	down := errors.New("down")
	ask := func(answers ...error) error {
		asked = 0
		return c.Ask(t.Context(), func(context.Context, Inspector) error { asked++; return answers[asked-1] })
	}
	for _, step := range []struct {
		answers             []error
		want                error
		asked, opens, ended int
	}{
		{[]error{down}, down, 1, 1, 1},
		{[]error{nil}, nil, 1, 2, 1},
		{[]error{nil}, nil, 1, 2, 1},
		{[]error{down, nil}, nil, 2, 3, 2},
		{[]error{down, down}, down, 2, 4, 4},
		{[]error{nil}, nil, 1, 5, 4},
	} {
		if err := ask(step.answers...); err != step.want || asked != step.asked || opens != step.opens || closed != step.ended {
			t.Errorf("%+v: %v, asked %d, opened %d, closed %d", step, err, asked, opens, closed)
		}
	}
	end(down)
	c.Close()
	for range 1000 { // whether its turn or the end is seen first
		if err := c.Ask(t.Context(), nil); err != down || closed != 5 {
			t.Fatalf("after its life: %v, closed %d", err, closed)
		}
	}
}
