package keyreader

import (
	_ "embed"
)

var (
	//go:embed describe.lua
	describeLua string
	//go:embed page.lua
	pageLua string
	//go:embed look.lua
	lookLua string
)
