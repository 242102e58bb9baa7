package store

import "context"

// InTime waits for a client that knows no contexts. When ctx ends it returns without the answer.
func InTime[T any](ctx context.Context, ask func() (T, error)) (answer T, err error) {
	answered := make(chan func() (T, error), 1)
	go func() {
		got, err := ask()
		answered <- func() (T, error) { return got, err }
	}()
	select {
	case result := <-answered:
		return result()
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}
