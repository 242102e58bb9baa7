package redisconn

import (
	"errors"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// IsReply reports whether the server replied with this error, rather than not at all.
func IsReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// quoted is where Redis before 7.0 begins to quote the error of a command in a script.
var quoted = regexp.MustCompile(`^ERR Error running script .*@user_script: ?\d+: -?`)

// HasCode reports whether the server replied with an error of this code, such as READONLY. Redis before 7.0 quotes the
// code of a command in a script at the end of another error.
func HasCode(err error, code string) bool {
	reply, ok := errors.AsType[redis.Error](err)
	if !ok {
		return false
	}
	if redis.HasErrorPrefix(reply, code) {
		return true
	}
	begins := quoted.FindString(reply.Error())
	return begins != "" && strings.HasPrefix(reply.Error()[len(begins):], code)
}

// IsUnknownScript reports whether the server has no script with the hash. The call had no effect.
func IsUnknownScript(err error) bool { return HasCode(err, "NOSCRIPT") }

// IsGivenUp reports whether go-redis drops the connection although the server replied: the address may
// belong to another server by now.
func IsGivenUp(err error) bool { return HasCode(err, "READONLY") || HasCode(err, "MOVED") }

// IsUnknownCommand reports whether the server does not have the command.
func IsUnknownCommand(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	return ok && strings.Contains(reply.Error(), "unknown command")
}

// IsDenied reports whether the credentials or the user's rights are insufficient.
func IsDenied(err error) bool {
	for _, code := range []string{
		"NOAUTH", "WRONGPASS", "NOPERM",
		"ACL failure in script",         // Redis 7.2 and later
		"The user executing the script", // may not do what follows: Redis 7.0 and 6.2
	} {
		if HasCode(err, code) {
			return true
		}
	}
	return false
}

// IsStranger reports whether the server refuses every command: authentication failed, or it has no database of that
// number. Such an error says nothing about a user's rights.
func IsStranger(err error) bool {
	return HasCode(err, "NOAUTH") || HasCode(err, "WRONGPASS") || HasCode(err, "DB index is out of range")
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
