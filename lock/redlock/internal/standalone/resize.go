package standalone

import (
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/internal/lanes"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

type resizeCommand struct {
	lanes.Command
	n  *Node
	to driver.Answer[driver.ResizeReply]
}

// Resize implements driver.Node.
func (n *Node) Resize(call driver.Call, req *driver.ResizeRequest, to driver.Answer[driver.ResizeReply]) {
	c := &resizeCommand{n: n, to: to}
	c.Command = lanes.Command{
		Call: call, Script: n.scripts.ResizeScript(), Args: n.scripts.ResizeArgs(req, scripts.OnServer()),
		Compares: lanes.ComparesFingerprint, To: c,
	}
	n.lanes.Submit(&c.Command)
}

func (c *resizeCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(0, err)
		return
	}
	c.to.Answer(scripts.Resized(c.n.guard, val))
}
