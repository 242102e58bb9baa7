package redisconn

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// IsReply reports whether the server replied with this error, rather than not at all.
func IsReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// IsUnknownScript reports whether the server has no script with the hash. The call had no effect.
func IsUnknownScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

// IsGivenUp reports whether go-redis drops the connection although the server replied: the address may
// belong to another server by now.
func IsGivenUp(err error) bool {
	return err != nil && (redis.HasErrorPrefix(err, "READONLY") || redis.HasErrorPrefix(err, "MOVED"))
}

// IsUnknownCommand reports whether the server does not have the command.
func IsUnknownCommand(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	return ok && strings.Contains(reply.Error(), "unknown command")
}

// IsDenied reports whether the credentials or the user's rights are insufficient.
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
	// The text of Redis 7.0 for a command that the ACL denies inside a script.
	return strings.Contains(reply.Error(), "user executing the script can't run this command")
}

// IsStranger reports whether authentication failed. Such an error says nothing about a user's rights.
func IsStranger(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	return ok && (redis.HasErrorPrefix(reply, "NOAUTH") || redis.HasErrorPrefix(reply, "WRONGPASS"))
}

// Scrub returns err without the arguments that a server quotes. A server that does not know EVALSHA
// quotes them, and they contain owner tokens and keys.
func Scrub(err error) error {
	if reply, ok := errors.AsType[redis.Error](err); ok {
		if text, _, quotes := strings.Cut(reply.Error(), ", with args beginning with"); quotes {
			return scrubbed(text)
		}
	}
	return err
}

// scrubbed is a server's error reply without the quoted arguments.
type scrubbed string

func (e scrubbed) Error() string { return string(e) }

// RedisError marks the reply as one, as go-redis does.
func (scrubbed) RedisError() {}
