package guard

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Fit returns why a server with this reply to INFO may not vote; nil if it may.
func Fit(text string) error {
	info, err := Master(text)
	if err == nil {
		err = mustKeepKeys(info)
	}
	return err
}

// Master parses a reply to INFO. It fails for anything but a master.
func Master(text string) (redisinfo.Info, error) {
	info := redisinfo.Parse(text)
	return info, mustBeMaster(info)
}

func mustBeMaster(info redisinfo.Info) error {
	switch {
	case info.RunID() == "" || info.Role() == "":
		return fmt.Errorf("%w: INFO has no run_id or no role, perhaps a proxy's: connect to the server itself, or use "+
			"WithoutGuard", driver.ErrUnexamined)
	case info.Role() == "slave":
		return fmt.Errorf("%w: connect to its master, or use a Sentinel client", driver.ErrReplica)
	}
	return nil
}

// mustKeepKeys requires that the server evicts no locks.
func mustKeepKeys(info redisinfo.Info) error {
	switch info.Eviction() {
	case redisinfo.EvictionOff:
		return nil
	case redisinfo.EvictionOn:
		return fmt.Errorf("%w (its maxmemory-policy is %s): set it to noeviction, or accept the loss of locks with "+
			"WithEvictingNodes",
			driver.ErrEvicting, info["maxmemory_policy"])
	}
	return fmt.Errorf("%w: INFO has no maxmemory_policy or maxmemory, so the node may evict locks: "+
		"use a server that reports them, or accept the loss of locks with WithEvictingNodes", driver.ErrUnexamined)
}

// infoRefused is the error of a server that refuses INFO. A server that does not know the client
// refuses everything, so granting a right would not help there.
func infoRefused(err error) error {
	if text := err.Error(); strings.HasPrefix(text, "NOAUTH") || strings.HasPrefix(text, "WRONGPASS") {
		return fmt.Errorf("%w: give the client the user and password of this server: %w", driver.ErrDenied, err)
	}
	return fmt.Errorf("%w: INFO is refused: grant +info to this user, or use WithoutGuard: %w", driver.ErrUnexamined,
		err)
}

// isReply distinguishes an error the server replied with from a connection that failed.
func isReply(err error) bool {
	var reply interface {
		error
		RedisError()
	}
	return errors.As(err, &reply)
}
