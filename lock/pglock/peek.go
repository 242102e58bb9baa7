package pglock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Peek implements driver.BlockingNode. The primary answers from one snapshot, and writes nothing.
func (n *node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	var code int
	var fence, ttl, forgot int64
	var holder string
	err := n.ask(ctx, n.calls.peek, []any{req.Key, millis(n.memory), n.enforced}, &code, &fence, &ttl, &holder, &forgot)
	if err != nil {
		return driver.PeekReply{}, err
	}
	switch code {
	case codeHeld:
		return driver.PeekReply{
			Held: true, Counter: uint64(fence), TTL: time.Duration(ttl) * time.Millisecond, Holder: holder,
		}, nil
	case codeGranted: // free
		return driver.PeekReply{}, nil
	case codeForgot:
		return driver.PeekReply{}, fmt.Errorf("%w: it was promoted, or restored from a backup: wait %v",
			driver.ErrQuarantined, time.Duration(forgot)*time.Millisecond)
	}
	return driver.PeekReply{}, fmt.Errorf("%w: peek returned code %d", driver.ErrBadReply, code)
}
