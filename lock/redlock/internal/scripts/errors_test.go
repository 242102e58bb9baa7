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

// FuzzClassify: a server's error is shown to people. Known servers repeat the arguments of a command, with its token,
// behind the same words.
func FuzzClassify(f *testing.F) {
	token := strings.Repeat("0a", driver.TokenLength/2)
	for _, s := range []string{
		"ERR unknown command 'evalsha', with args beginning with: '",
		"NOPERM User app has no permissions to run the 'evalsha' command",
		"WRONGPASS invalid username-password pair or user is disabled.", "NOAUTH Authentication required.", "",
		"NOSCRIPT No matching script. Please use EVAL.", "READONLY You can't write against a read only replica.",
		"MOVED 3999 127.0.0.1:6381", "OOM command not allowed when used memory > 'maxmemory'.", "-LOADING\r\nx\x1b[31m",
		"ERR user_script:1: the user executing the script can't run this command or subcommand script: 5f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := Classify(reply(text))
		if err == nil {
			t.Fatalf("%q is no error", text)
		}
		quoting := text + ", with args beginning with: '" + token + "'"
		if err := Classify(reply(quoting)); strings.Contains(err.Error(), token) && !strings.Contains(text, token) {
			t.Fatalf("%q shows the token: %v", quoting, err)
		}
		_ = driver.ClassOf(err)
	})
}
