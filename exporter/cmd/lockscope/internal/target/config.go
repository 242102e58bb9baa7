package target

import (
	"errors"
	"io"
	"time"
)

const (
	dialTimeout = 3 * time.Second
	// callTimeout bounds commands whose context does not: long enough for a page
	// of a scan on a busy server.
	callTimeout = 5 * time.Second
)

// Config says which servers there are and how to reach them.
type Config struct {
	URLs     []string // redis://, rediss:// or host:port
	File     string   // more of them, one a line; "-" is standard input
	Username string   // for URLs that name no user
	Password string   // for URLs without one

	PasswordFile string // instead of Password
	TLS          TLS

	Cluster          bool   // the URLs are seeds of one Redis Cluster
	SentinelMaster   string // the URLs are Sentinels that watch this master
	SentinelPassword string

	Stdin io.Reader // for File "-"

	source string // the flag or variable that URLs are from, for errors; "" if another flag is named there
}

// Errors of bad input. They come wrapped with what to do about it.
var (
	ErrNoServers = errors.New(
		"no Redis server given: use --redis URL, --redis-file FILE, LOCKSCOPE_REDIS or REDIS_URL")
	ErrBadURL = errors.New("is not a server address (its text is withheld: it may hold a password). " +
		"Use redis://[user:password@]host:port[/db], unix://[user:password@]/path, host:port, localhost or an " +
		"address, and percent-encode special characters of the password")
	ErrConflict = errors.New("flags conflict")
)
