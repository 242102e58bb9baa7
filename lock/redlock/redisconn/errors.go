package redisconn

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// IsReply distinguishes an error the server replied with from the failure to get a reply.
func IsReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// IsUnknownScript says that the server has no script of that hash: nothing was done.
func IsUnknownScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

// IsGivenUp says that go-redis will not use the connection again although the server replied:
// what it is connected to may be another server than the address stands for by now.
func IsGivenUp(err error) bool {
	return err != nil && (redis.HasErrorPrefix(err, "READONLY") || redis.HasErrorPrefix(err, "MOVED"))
}

// IsUnknownCommand says that the server has no such command.
func IsUnknownCommand(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	return ok && strings.Contains(reply.Error(), "unknown command")
}

// IsDenied says that only a change of users or rights on the server helps.
func IsDenied(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	if !ok {
		return false
	}
	for _, prefix := range []string{"NOAUTH", "WRONGPASS", "NOPERM"} {
		if redis.HasErrorPrefix(reply, prefix) {
			return true
		}
	}
	// What Redis 7.0 says of a command that the ACL denies inside a script.
	return strings.Contains(reply.Error(), "user executing the script can't run this command")
}

// IsStranger says that the server does not know who asks: what it replied is no word on
// the rights of a user.
func IsStranger(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	return ok && (redis.HasErrorPrefix(reply, "NOAUTH") || redis.HasErrorPrefix(reply, "WRONGPASS"))
}

// Scrub returns err without the arguments that a server quotes: one that does not know
// EVALSHA repeats them, and owner tokens and keys are among them.
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
