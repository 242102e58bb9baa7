package keyreader

import (
	"math"
)

// FirstCursor begins a pass through all keys. As a Page's Next, it ends the pass.
const FirstCursor = "0"

// Wanted selects the keys of a page that are described whatever their TTL: from First to Last, counted from 1. The
// zero value selects none.
type Wanted struct{ First, Last int64 }

// All selects every key.
func All() Wanted { return Wanted{First: 1, Last: math.MaxInt32} }

// Page is one page of keys.
type Page struct {
	Next   string // cursor of the next page; [FirstCursor]: there is none
	Keys   int64  // number of keys, without the helper keys that page.lua knows
	Values []Value
}
