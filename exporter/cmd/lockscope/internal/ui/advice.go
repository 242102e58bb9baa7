package ui

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
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
	switch known := knownAdvice(err); {
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

// knownAdvice is [ConnectionAdvice] if the error has a known cause, else "".
func knownAdvice(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, ErrPlainPort), strings.Contains(text, "does not look like a TLS handshake"):
		return "use redis:// instead of rediss://, or the TLS port of the server (tls-port in its configuration)"
	case errors.Is(err, ErrTLSPort):
		return "use rediss://, with --tls-ca if no public authority signed its certificate"
	case strings.Contains(text, "LOADING "):
		return "it loads its data: wait until it is done"
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

// allAdvice is what to do about servers that could not be asked, if the cause is known, each advice once.
// Commands whose tables have it for each node return no such error.
func allAdvice(err error) (all []string) {
	switch joined := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range joined.Unwrap() {
			for _, advice := range allAdvice(one) {
				if !slices.Contains(all, advice) {
					all = append(all, advice)
				}
			}
		}
	case interface{ Unwrap() error }:
		if inner := joined.Unwrap(); inner != nil {
			all = allAdvice(inner)
		}
	}
	if len(all) > 0 {
		return all
	}
	if advice := knownAdvice(err); advice != "" {
		return []string{advice}
	}
	return nil
}

// optionText is how the packages below name an option whose value they refuse.
var optionText = regexp.MustCompile(`(?:\w+: invalid option: )?\b(With[A-Z]\w*)(?:\(([^)]*)\))?`)

// flagNames are the flags that reach options of the packages below.
func flagNames() map[string]string {
	return map[string]string{
		"WithTTLLimit": "--max-ttl", "WithHoldLimit": "--max-hold", "WithTermLimit": "--max-term",
		"WithInterval": "--interval", "WithDeadline": "--deadline",
		"WithPause": "--pause", "WithConfirmAfter": "--confirm-after", "WithRepairMinAge": "--min-age",
		"WithPageSize":    "--page-size",
		"WithMaxFindings": "--max-findings", "WithMaxWatched": "--max-watched", "WithMaxValues": "--max-values",
		"WithNodeNames": "--node-names", "WithReplicas": "--replica", "WithPatterns": "--pattern",
		"WithChecks": "--checks",
		"WithMaxTTL": "--max-ttl", "WithPrefix": "--prefix",
		"WithSchema":      "--schema",
		"WithNodeTimeout": "--node-timeout", "WithOneRedlock": "--redlock", "WithEmptyAllowed": "--allow-empty",
		"WithMarkerIdentity": "--marker-identity", "WithoutEviction": "--without-eviction",
		"WithEvictingNodes": "--evicting-nodes", "WithoutGuard": "--without-guard",
	}
}

// inFlags replaces the names of Go's options by those of flags, which are what the user of a command knows.
func inFlags(text string) string {
	flags := flagNames()
	return optionText.ReplaceAllStringFunc(text, func(found string) string {
		parts := optionText.FindStringSubmatch(found)
		flag, known := flags[parts[1]]
		switch {
		case !known:
			return found
		case parts[2] == "":
			return flag
		}
		return flag + " " + parts[2]
	})
}
