package etcdlock

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// maxTries is how many members get a call that may be repeated.
const maxTries = 3

// repeat runs an idempotent call. The client sends each try to another member, so one member that hangs does
// not use up all the time.
func repeat[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	answer, _, err := repeated(ctx, do)
	return answer, err
}

// repeated is like repeat. again means that an earlier try may have taken effect, or still may.
func repeated[T any](ctx context.Context, do func(context.Context) (T, error)) (answer T, again bool, err error) {
	for left := maxTries; ; left-- {
		try, cancel := portion(ctx, left)
		answer, err = do(try)
		cancel()
		if err == nil || left == 1 || ctx.Err() != nil || !silent(err) {
			return answer, again, err
		}
		again = true
	}
}

// portion gives each try its part of the remaining time. The last try ends slightly early, so that the cause
// is reported before the call counts as unanswered.
func portion(ctx context.Context, tries int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	if tries == 1 {
		return context.WithTimeout(ctx, left-left/8)
	}
	return context.WithTimeout(ctx, left/time.Duration(tries))
}

func silent(err error) bool {
	if is(err, context.DeadlineExceeded) {
		return true
	}
	code := codeOf(err)
	return code == codes.DeadlineExceeded || code == codes.Unavailable
}
