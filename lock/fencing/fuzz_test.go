package fencing

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// FuzzFromHeader: a client of the service writes the header.
func FuzzFromHeader(f *testing.F) {
	f.Add("1795697208763505", "")
	f.Add("9223372036854775807", "")
	f.Add("9223372036854775808", "")
	f.Add("+1", "")
	f.Add("0x11", "1")
	f.Fuzz(func(t *testing.T, value, second string) {
		h := http.Header{Header: {value}}
		if second != "" {
			h.Add(Header, second)
		}
		fence, err := FromHeader(h)
		if err != nil {
			if fence != 0 || !errors.Is(err, lock.ErrInvalidOption) {
				t.Fatalf("%q: %d, %v", h, fence, err)
			}
			return
		}
		if fence == 0 || fence > math.MaxInt64 || second != "" {
			t.Fatalf("%q is token %d", h, fence)
		}
		if n, err := strconv.ParseUint(value, 10, 63); err != nil || n != fence {
			t.Fatalf("%q is token %d", value, fence)
		}
	})
}

// FuzzObject: an object in a bucket may have been written by anything.
func FuzzObject(f *testing.F) {
	f.Add([]byte("lockscope-fence 17 8f14e45fceea167a5a36dedd4bea2543\n{}"))
	f.Add([]byte("lockscope-fence 17\n{}"))
	f.Add([]byte("lockscope-fence -1 a\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, object []byte) {
		content, fence, _ := splitObject(object)
		if fence == 0 && !bytes.Equal(content, object) && !bytes.HasPrefix(object, []byte("lockscope-fence")) {
			t.Fatalf("%q lost its first line", object)
		}
		header := fmt.Appendf(nil, objectHeader+"\n", uint64(math.MaxInt64), "a")
		if again, fence, _ := splitObject(append(header, object...)); fence != math.MaxInt64 || !bytes.Equal(again, object) {
			t.Fatalf("%q is read back as %q, %d", object, again, fence)
		}
	})
}
