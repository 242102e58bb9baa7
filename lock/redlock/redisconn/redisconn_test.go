package redisconn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// reply is an error reply of a server.
type reply string

func (e reply) Error() string { return string(e) }
func (reply) RedisError()     {}

func TestErrorsAreDistinguishedAndScrubbed(t *testing.T) {
	quoted := fmt.Errorf("acquire: %w",
		reply("ERR unknown command 'evalsha', with args beginning with: 'abc' 's3cr3t'"))
	if err := redisconn.Scrub(quoted); strings.Contains(err.Error(), "s3cr3t") || !redisconn.IsReply(err) ||
		!redisconn.IsUnknownCommand(err) {
		t.Errorf("scrubbed: %q", err)
	}
	other := errors.New("connection reset")
	if !errors.Is(redisconn.Scrub(other), other) || redisconn.IsReply(other) || redisconn.IsDenied(other) ||
		redisconn.IsUnknownScript(nil) {
		t.Errorf("%v is taken for a reply", other)
	}
	for text, denied := range map[string]bool{
		"NOPERM this user has no permissions": true, "WRONGPASS invalid": true, "NOAUTH Authentication required.": true,
		"ERR The user executing the script can't run this command or subcommand script":                  true,
		"ERR ACL failure in script: User u has no permissions to run the 'set' command script: 9":        true, // 7.2, Valkey 8
		inScript + "@user_script: 1: The user executing the script can't run this command or subcommand": true,
		"READONLY You can't write": false, "ERR wrong number of arguments": false,
		inScript + "@user_script: 1: -READONLY You can't write against a read only replica.": false,
		inScript + "WRONGTYPE Operation against a key holding the wrong kind of value":       false,
	} {
		if got := redisconn.IsDenied(reply(text)); got != denied {
			t.Errorf("IsDenied(%q) = %v", text, got)
		}
		if got := redisconn.IsGivenUp(reply(text)); got != strings.Contains(text, "READONLY You") {
			t.Errorf("IsGivenUp(%q) = %v", text, got)
		}
	}
	if !redisconn.HasCode(reply(inScript+"WRONGTYPE Operation"), "WRONGTYPE") ||
		redisconn.HasCode(reply(inScript+"WRONGTYPE -OOM"), "OOM") || redisconn.HasCode(errors.New("OOM"), "OOM") {
		t.Error("the code of a command in a script is not the one that Redis 6.2 quotes")
	}
}

// inScript is how Redis 6.2 begins to quote the error of a command in a script.
const inScript = "ERR Error running script (call to f_521a0de99064309d33abc4a01319c7a4f6200f01): @user_script:1: "

// TestDerivedOptions: the given client is not changed. Its own OnConnect runs first, and its failure ends the
// connection.
func TestDerivedOptions(t *testing.T) {
	var order []string
	failing := false
	given := redis.NewClient(&redis.Options{Addr: "h:1", DB: 3, MaxRetries: 7,
		OnConnect: func(context.Context, *redis.Conn) error {
			order = append(order, "given")
			if failing {
				return errors.New("refused")
			}
			return nil
		}})
	defer given.Close()
	opt := redisconn.Standalone(given, redisconn.Limits{Dial: time.Second, Call: 2 * time.Second, Pool: 3 * time.Second,
		PoolSize: 2},
		func(context.Context, *redis.Conn) error {
			order = append(order, "own")
			return nil
		})
	if opt.MaxRetries != -1 || opt.PoolSize != 2 || opt.ReadTimeout != 2*time.Second || !opt.ContextTimeoutEnabled ||
		opt.Addr != "h:1" {
		t.Errorf("derived %+v", opt)
	}
	if given.Options().MaxRetries != 7 {
		t.Error("the given client's options were changed")
	}
	if err := opt.OnConnect(t.Context(), nil); err != nil || strings.Join(order, " ") != "given own" {
		t.Errorf("called %v: %v", order, err)
	}
	failing, order = true, nil
	if err := opt.OnConnect(t.Context(), nil); err == nil || len(order) != 1 {
		t.Errorf("called %v after a failure: %v", order, err)
	}
	if name := redisconn.Name(given.Options()); name != "h:1/3" {
		t.Errorf("named %q", name)
	}
}
