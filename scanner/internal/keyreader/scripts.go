package keyreader

import (
	_ "embed"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

var (
	//go:embed describe.lua
	describeLua string
	//go:embed page.lua
	pageLua string
	//go:embed look.lua
	lookLua string
)

// Capability is whether a server runs scripts, and by which commands. The zero value is an unknown server.
type Capability struct {
	scripts scripting
	eval    int  // which of node.EvalCommands to try; the ones before it are refused
	only    bool // for tests: scripts that are refused are an error
}

// scripting is what is known about scripts on a server.
type scripting int

const (
	untried scripting = iota
	proven            // a page was read by one
	refused           // by every command there is
)

// PlainOnly is a server on which no script is tried.
func PlainOnly() Capability { return Capability{scripts: refused} }

// ScriptOnly is a server on which a script that every command refuses is an error, for tests.
func ScriptOnly() Capability { return Capability{only: true} }

func (c *Capability) command() redisconn.EvalCommand { return node.EvalCommands()[c.eval] }

// refuse goes on to the next command, if there is one.
func (c *Capability) refuse() {
	if c.another() {
		c.eval++
		return
	}
	c.scripts = refused
}

func (c *Capability) another() bool { return c.eval+1 < len(node.EvalCommands()) }
