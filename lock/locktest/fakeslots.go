package locktest

import (
	"context"

	"github.com/lockscope/lockscope/lock/driver"
)

// Resize implements driver.BlockingNode. A server in quarantine also answers it.
func (n *FakeNode) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	other := ""
	reply, err := call(ctx, n, "resize", req.Key, func(s *commands) driver.ResizeReply {
		if s.OtherConfiguration(s.sight.Fingerprint(), s.sight.Expected()) {
			other = s.Marker
			return 0
		}
		reply := s.Resize(req)
		n.server.tell("resize", "%+v: %d", req, reply)
		return reply
	})
	if err == nil && other != "" {
		err = n.guard.OtherConfiguration(other)
	}
	return reply, err
}
