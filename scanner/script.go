package scanner

import (
	_ "embed" // the scripts

	"github.com/lockscope/lockscope/scanner/internal/server"
)

//go:embed describe.lua
var describeLua string

//go:embed page.lua
var pageLua string

//go:embed look.lua
var lookLua string

type scripts struct{ page, look *server.Script }

func newScripts() *scripts {
	return &scripts{page: server.NewScript(describeLua, pageLua), look: server.NewScript(describeLua, lookLua)}
}
