package guard

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Fit says of a reply to INFO why no vote of its server may count; nil if it may.
func Fit(text string) error {
	info, err := Master(text)
	if err == nil {
		err = mustKeepKeys(info)
	}
	return err
}

// Master reads a reply to INFO. For anything but a master the error says what it is.
func Master(text string) (redisinfo.Info, error) {
	info := redisinfo.Parse(text)
	return info, mustBeMaster(info)
}

func mustBeMaster(info redisinfo.Info) error {
	switch {
	case info.RunID() == "" || info.Role() == "":
		return fmt.Errorf("%w: INFO tells no run_id or no role, as a proxy's may: name the server itself, or use "+
			"WithoutGuard", driver.ErrUnexamined)
	case info.Role() == "slave":
		return fmt.Errorf("%w: name its master, or use a Sentinel client", driver.ErrReplica)
	}
	return nil
}

// mustKeepKeys requires that the server drops no lock for want of memory.
func mustKeepKeys(info redisinfo.Info) error {
	switch info.Eviction() {
	case redisinfo.EvictionOff:
		return nil
	case redisinfo.EvictionOn:
		return fmt.Errorf("%w (its maxmemory-policy is %s): set it to noeviction, or accept the loss of locks with "+
			"WithEvictingNodes",
			driver.ErrEvicting, info["maxmemory_policy"])
	}
	return fmt.Errorf("%w: INFO tells no maxmemory_policy or maxmemory, so it is unknown whether the node evicts: "+
		"name a server that tells, or accept the loss of locks with WithEvictingNodes", driver.ErrUnexamined)
}

// infoRefused says what to do about a server that does not say who it is. One that does
// not know this client refuses everything: no right would help.
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
