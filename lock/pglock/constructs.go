package pglock

import (
	"context"

	"github.com/lockscope/lockscope/lock/driver"
)

// Capabilities implements driver.BlockingNode. If the schema is older than the driver, calls fail and say so.
func (n *node) Capabilities() driver.Capabilities {
	return driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true}
}

// Resize implements driver.BlockingNode.
func (n *node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	var known int
	err := n.ask(ctx, n.calls.resize, []any{req.Key, req.From, req.To, millis(req.Keep)}, &known)
	return driver.ResizeReply(known), err
}
