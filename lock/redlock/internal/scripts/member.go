package scripts

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Member is the one connection of an act to a node.
type Member struct {
	reader
	conn *redis.Conn
}

var _ guard.MemberConn = Member{}

// NewMember is an act's on this connection, which is its own to close.
func NewMember(conn *redis.Conn) Member { return Member{reader: reader{conn}, conn: conn} }

// Close closes the connection.
func (c Member) Close() error { return c.conn.Close() }

// Info implements guard.MemberConn. Servers that do not know the section, or refuse it, leave it out.
func (c Member) Info(ctx context.Context) (string, error) {
	text, err := c.reader.Info(ctx)
	if err != nil {
		return "", err
	}
	commands := redis.NewStringCmd(ctx, "info", "commandstats")
	if err := c.Process(ctx, commands); err != nil && !redisconn.IsReply(err) {
		return "", err
	}
	return text + "\r\n" + commands.Val(), nil
}

// Mark implements guard.MemberConn.
func (c Member) Mark(ctx context.Context, m guard.Mark) (code int, marker string, err error) {
	reply, err := c.conn.Eval(ctx, markLua, []string{guard.MarkerKey}, m.Args()...).Result()
	if err != nil {
		return 0, "", err
	}
	n, marker, _, err := parseMarker(reply, guard.MarkRefused, guard.MarkVotes)
	return int(n), marker, err
}

// Replace implements guard.MemberConn.
func (c Member) Replace(ctx context.Context, prefix, marker string) (bool, error) {
	reply, err := c.conn.Eval(ctx, replaceLua, []string{guard.MarkerKey}, prefix, marker).Result()
	if err != nil {
		return false, err
	}
	return ParseFlag(reply)
}

// Used implements guard.MemberConn.
func (c Member) Used(ctx context.Context) (string, error) {
	if keys, err := c.conn.DBSize(ctx).Result(); err == nil && keys <= 1 {
		return "", nil // nothing but the marker
	}
	keys := c.conn.Scan(ctx, 0, "lockscope:*", 1000).Iterator()
	for keys.Next(ctx) {
		if key := keys.Val(); key != guard.MarkerKey {
			return kindOf(key), nil
		}
	}
	return "", keys.Err()
}

// kindOf is the part of a key that says what is there. The rest may name an owner's token.
func kindOf(key string) string {
	parts := strings.SplitN(key, ":", 3)
	return strconv.Quote(strings.Join(parts[:min(len(parts), 2)], ":") + ":...")
}
