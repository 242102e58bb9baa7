package diagnosis

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
)

// ConnectionAdvice says what to do about a server that could not be asked.
func ConnectionAdvice(err error) string {
	var reply redis.Error
	text := err.Error()
	switch known := KnownAdvice(err); {
	case known != "":
		return known
	case strings.Contains(text, "i/o timeout"), errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF),
		strings.Contains(text, "reset by peer"):
		return "it accepts connections and does not answer: is it hung, or is this a TLS port (rediss://)?"
	case errors.As(err, &reply):
		return "the server answered and refused"
	}
	return "is the server up, is the address right, may this machine reach it?"
}

// KnownAdvice is [ConnectionAdvice] where the error tells its cause; else "".
func KnownAdvice(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, target.ErrPlainPort), strings.Contains(text, "does not look like a TLS handshake"):
		return "name it as redis://, not rediss://, or give the port on which it speaks TLS (tls-port in its configuration)"
	case errors.Is(err, target.ErrTLSPort):
		return "name it as rediss://, with --tls-ca if its certificate is not of a public authority"
	case strings.Contains(text, "WRONGPASS"), strings.Contains(text, "invalid username-password"):
		return "user or password is wrong: see --redis-username and --redis-password-file"
	case strings.Contains(text, "NOAUTH"):
		return "the server wants a password: give --redis-password-file or LOCKSCOPE_REDIS_PASSWORD"
	case strings.Contains(text, "max number of clients"):
		return "all its connections are taken: raise maxclients, or find who does not close theirs (CLIENT LIST)"
	case strings.Contains(text, "NOPERM") && strings.Contains(text, "'info'"):
		return "grant +info to this user: without it lockscope lets the node vote with WithoutGuard only, " +
			"and restarts, replicas and eviction go unnoticed"
	case strings.Contains(text, "NOPERM"):
		return "grant the user what the server says is missing (ACL SETUSER), or name another one with --redis-username"
	case strings.Contains(text, "x509:"):
		return "the server's certificate is not believed: see --tls-ca, and the host name in the URL"
	case strings.Contains(text, "tls:"):
		return "the server refuses this TLS connection: if it wants a client certificate, see --tls-cert"
	}
	return ""
}
