package report

import (
	"strconv"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// KeyText returns the key in printable form: unchanged if it is one line of printable text, else as a quoted Go
// string. [strconv.Unquote] restores the bytes of one that starts with a quotation mark.
func KeyText(key string) string { return inspect.KeyText(key) }

// slotsText writes a range as CLUSTER NODES does.
func slotsText(r SlotRange) string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}
