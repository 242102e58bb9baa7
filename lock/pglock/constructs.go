package pglock

import (
	"context"

	"github.com/lockscope/lockscope/lock/driver"
)

var (
	_ driver.Sharer             = (*node)(nil)
	_ driver.BlockingSlotKeeper = (*node)(nil)
)

// Shares implements driver.Sharer. If the schema is older than the driver, calls fail and say so.
func (n *node) Shares() error { return nil }

// Resize implements driver.BlockingSlotKeeper.
func (n *node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	var known int
	err := n.ask(ctx, n.calls.resize, []any{req.Key, req.From, req.To, millis(req.Keep)}, &known)
	return driver.ResizeReply(known), err
}
