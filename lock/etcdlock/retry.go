package etcdlock

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// maxTries is how many members a call that may be repeated is sent to.
const maxTries = 3

// repeat does something that may be done more than once: the client sends each call to
// another member, and one that hangs must not take all the time there is.
func repeat[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	answer, _, err := repeated(ctx, do)
	return answer, err
}

// repeated is repeat that tells whether an earlier try may have taken effect, or still may.
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

// portion ends when one of so many tries has had its part of the time. The last leaves some,
// so that what was wrong is told before the call counts as unanswered.
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
