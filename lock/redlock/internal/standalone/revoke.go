package standalone

import (
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/internal/lanes"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

type revokeCommand struct {
	lanes.Command
	n   *Node
	req *driver.RevokeRequest
	to  driver.Answer[driver.RevokeReply]
}

// Revoke implements driver.Node.
func (n *Node) Revoke(call driver.Call, req *driver.RevokeRequest, to driver.Answer[driver.RevokeReply]) {
	c := &revokeCommand{n: n, req: req, to: to}
	c.Command = lanes.Command{
		Call: call, Script: n.scripts.Revoke, Args: n.scripts.RevokeArgs(req, scripts.OnServer()),
		Compares: lanes.ComparesMarkerToRead, To: c,
	}
	n.lanes.Submit(&c.Command)
}

func (c *revokeCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.RevokeReply{}, err)
		return
	}
	c.to.Answer(scripts.Revoked(c.n.guard, c.req, val))
}
