package keyreader

import (
	"math"
)

// FirstCursor begins a pass through all keys and, as a Page's Next, ends it.
const FirstCursor = "0"

// Wanted says which of a page's keys are described whatever their TTL: from First
// to Last, counted from 1. The zero value is none of them.
type Wanted struct{ First, Last int64 }

// All wants every key described.
func All() Wanted { return Wanted{First: 1, Last: math.MaxInt32} }

// Page is one page of keys.
type Page struct {
	Next   string // cursor of the next page; [FirstCursor]: there is none
	Keys   int64  // how many there are, helper keys not counted as far as page.lua knows them
	Values []Value
}
