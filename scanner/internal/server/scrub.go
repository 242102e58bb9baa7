package server

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrBadReply says that a server's answer is not one that is known.
var ErrBadReply = errors.New("reply not understood")

// IsReply tells an answer of the server from the failure to get one.
func IsReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// Scrub keeps the arguments that servers quote, keys among them, out of errors.
func Scrub(err error) error {
	if reply, ok := errors.AsType[redis.Error](err); ok {
		if text, _, quotes := strings.Cut(reply.Error(), ", with args beginning with"); quotes {
			return scrubbed(text)
		}
	}
	return err
}

// scrubbed is an error a server replied with, without what it quotes.
type scrubbed string

func (e scrubbed) Error() string { return string(e) }

// RedisError marks the reply as one, as go-redis does.
func (scrubbed) RedisError() {}
