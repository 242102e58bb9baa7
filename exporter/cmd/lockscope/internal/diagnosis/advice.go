package diagnosis

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Errors of a URL whose scheme is not what the server speaks on its port.
var (
	ErrPlainPort = errors.New("the server does not speak TLS on this port")
	ErrTLSPort   = errors.New("the server speaks TLS on this port")
)

// refusedCommand finds the command in a refusal of Redis, which ACL rules name in the same way.
var refusedCommand = regexp.MustCompile(`run the '([^']+)' command`)

// missingRule is the ACL rule that would have allowed what Redis refused.
func missingRule(text string) string {
	if found := refusedCommand.FindStringSubmatch(text); found != nil {
		return "+" + found[1]
	}
	return "access to these keys"
}

// ConnectionAdvice is what to do about a server that could not be asked.
func ConnectionAdvice(err error) string {
	var reply redis.Error
	text := err.Error()
	switch known := KnownAdvice(err); {
	case known != "":
		return known
	case strings.Contains(text, "i/o timeout"), errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF),
		strings.Contains(text, "reset by peer"):
		return "it accepts connections but does not answer: check whether it hangs, or is a TLS port (rediss://)"
	case errors.As(err, &reply):
		return "the server answered with an error"
	}
	return "check that the server is up, the address is right, and this machine can reach it"
}

// KnownAdvice is [ConnectionAdvice] if the error has a known cause, else "".
func KnownAdvice(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, ErrPlainPort), strings.Contains(text, "does not look like a TLS handshake"):
		return "use redis:// instead of rediss://, or the TLS port of the server (tls-port in its configuration)"
	case errors.Is(err, ErrTLSPort):
		return "use rediss://, with --tls-ca if no public authority signed its certificate"
	case strings.Contains(text, "WRONGPASS"), strings.Contains(text, "invalid username-password"):
		return "user or password is wrong: check --redis-username and --redis-password-file"
	case strings.Contains(text, "NOAUTH"):
		return "the server requires a password: set --redis-password-file or LOCKSCOPE_REDIS_PASSWORD"
	case strings.Contains(text, "all sentinels specified") && strings.Contains(text, "redis: nil"):
		return "no Sentinel watches a master of that name: check --sentinel-master"
	case redisconn.IsUnknownCommand(err):
		return "the server does not know this command: if it is a Sentinel, name its master with --sentinel-master"
	case strings.Contains(text, "DB index is out of range"):
		return "the server has no database of that number: check the end of the URL, and databases in its configuration"
	case strings.Contains(text, "max number of clients"):
		return "all its connections are in use: raise maxclients, or find clients that leak connections (CLIENT LIST)"
	case strings.Contains(text, "NOPERM") && strings.Contains(text, "'info'"):
		return "grant +info to this user: without it the node votes only with WithoutGuard, " +
			"and lockscope cannot detect restarts, replicas and eviction"
	case strings.Contains(text, "NOPERM"):
		return "grant " + missingRule(text) + " to the user (ACL SETUSER), or use another user with --redis-username"
	case strings.Contains(text, "x509:"):
		return "the server's certificate is not trusted: check --tls-ca and the host name in the URL"
	case strings.Contains(text, "tls:"):
		return "the server refuses this TLS connection: if it requires a client certificate, use --tls-cert"
	}
	return ""
}
