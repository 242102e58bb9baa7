package fencing

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/lockscope/lockscope/lock"
)

// Header carries a fencing token between services, in decimal.
const Header = "Lock-Fence"

// SetHeader adds the token of a lease to a request that writes under it.
func SetHeader(h http.Header, lease lock.Lease) { h.Set(Header, strconv.FormatUint(lease.Fence(), 10)) }

// FromHeader returns the token of a request. It fails with lock.ErrInvalidOption if there is none, or more than one, or
// one that no lease has: answer 400 Bad Request then. If Guard refuses the token, answer 409 Conflict.
func FromHeader(h http.Header) (uint64, error) {
	values := h.Values(Header)
	if len(values) != 1 {
		return 0, fmt.Errorf("fencing: %w: %d headers %s, want one", lock.ErrInvalidOption, len(values), Header)
	}
	fence, err := strconv.ParseUint(values[0], 10, 63)
	if err != nil || fence == 0 {
		return 0, fmt.Errorf("fencing: %w: %s: %.30q is no fencing token", lock.ErrInvalidOption, Header, values[0])
	}
	return fence, nil
}
