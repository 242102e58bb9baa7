package value

import (
	"regexp"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

var (
	// otherToken matches the values of libraries that lock on a quorum of independent nodes. Each is new for one lease
	// and the same on all nodes. discover/libraries.txt names the files of the libraries that show the forms.
	otherToken = regexp.MustCompile(`^(` +
		`[A-Za-z0-9+/]{21}[AQgw]==` + // redsync
		`|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{80}` + // node-redlock, redlock-universal; redlock4j; redlock for Elixir
		`|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}` + // redlock-rb, aioredlock, RedLock.net
		`|.{1,128}_\d{1,10}_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}` + // DistributedLock.Redis
		`)$`)
	// ofRedisPy matches UUIDs of version 1 from 2010 to 2037: redis-py locks on one node. One of 8192 random tokens of
	// node-redlock has that form.
	ofRedisPy = regexp.MustCompile(`^[0-9a-f]{12}11[ef][0-9a-f][89ab][0-9a-f]{15}$`)
)

// OtherToken is the value of another library's lock if it has the form of one lease on a quorum of nodes, and else "".
func OtherToken(v *keyreader.Value) string {
	if v.Type != keyreader.String || v.Size > keyreader.HeadSize || !otherToken.MatchString(v.Head) ||
		ofRedisPy.MatchString(v.Head) {
		return ""
	}
	return v.Head
}
