package apply

import (
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/repair"
)

// refusedCommand finds the command in a refusal of Redis.
var refusedCommand = regexp.MustCompile(`run the '([^']+)' command`)

// notPermitted also recognises the error inside a script, of Redis 7.0 and of later versions.
func notPermitted(err error) bool {
	text := err.Error()
	return strings.Contains(text, "NOPERM") || strings.Contains(text, "user executing the script") ||
		strings.Contains(text, "ACL failure in script")
}

// lacks is the ACL rule that a refusal asks for. Redis 7.0 does not name the command that it refuses inside a script:
// then these are the rules that only a repair needs.
func lacks(f *ledger.Entry, a repair.Action, err error) string {
	found := refusedCommand.FindStringSubmatch(err.Error())
	switch {
	case found != nil:
		return "+" + found[1]
	case strings.Contains(err.Error(), "key"):
		return "write access to the key"
	case ofReader(f):
		return "+time +hset +hdel +del +pexpire"
	case a.Deletes():
		return "+del"
	}
	return "+pexpire"
}
