package scripts

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

func TestErrorsDropArguments(t *testing.T) {
	token := strings.Repeat("0a", driver.TokenLength/2)
	err := Classify(reply("ERR unknown command 'evalsha', with args beginning with: 'abc' '5' 'lock:a' '" + token +
		"'"))
	if strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), "unknown command 'evalsha'") {
		t.Errorf("got %q", err)
	}
	if !driver.ClassOf(err).Permanent() {
		t.Errorf("%q would be tried again", err)
	}
}

// reply is an error reply of a server.
type reply string

func (e reply) Error() string { return string(e) }
func (reply) RedisError()     {}
