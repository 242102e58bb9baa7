package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Fit returns why a server with this reply to INFO may not vote; nil if it may.
func Fit(text string) error {
	info, err := Master(text)
	if err == nil {
		err = mustKeepKeys(info, false)
	}
	return err
}

// Master parses a reply to INFO. It fails for anything but a master.
func Master(text string) (redisinfo.Info, error) {
	info := redisinfo.Parse(text)
	return info, mustBeMaster(info, false)
}

// mustBeMaster requires a server that tells who it is, or, if byMarker says so, one whose marker tells it.
func mustBeMaster(info redisinfo.Info, byMarker bool) error {
	switch {
	case info["redis_mode"] == "sentinel":
		return fmt.Errorf("%w: it is a Sentinel: make the client with redis.NewFailoverClient and the name of the master "+
			"(--sentinel-master)", driver.ErrUnexamined)
	case info.Role() == "" || info.RunID() == "" && !byMarker:
		return fmt.Errorf("%w: INFO has no %s: connect to the server itself, not to a proxy; if the server has none, "+
			"see WithMarkerIdentity, or use WithoutGuard", driver.ErrUnexamined, missingOf(info))
	case info.Role() == "slave":
		return fmt.Errorf("%w: connect to its master, or use a Sentinel client", driver.ErrReplica)
	case info.Role() != "master":
		return fmt.Errorf("%w: INFO has the unknown role %q: use a master of Redis, or WithoutGuard",
			driver.ErrUnexamined, info.Role())
	}
	return nil
}

func missingOf(info redisinfo.Info) string {
	switch {
	case info.Role() != "":
		return "run_id"
	case info.RunID() != "":
		return "role"
	}
	return "run_id and no role"
}

// mustKeepKeys requires that the server evicts no locks. stated is the caller's word for a server that does not say.
func mustKeepKeys(info redisinfo.Info, stated bool) error {
	if stated && info.Eviction() == redisinfo.EvictionUnknown {
		return nil
	}
	switch info.Eviction() {
	case redisinfo.EvictionOff:
		return nil
	case redisinfo.EvictionOn:
		return fmt.Errorf("%w (its maxmemory-policy is %s): set it to noeviction, or accept the loss of locks with "+
			"WithEvictingNodes",
			driver.ErrEvicting, info["maxmemory_policy"])
	}
	return fmt.Errorf("%w: INFO has no maxmemory_policy or maxmemory, so the node may evict locks: "+
		"use a server that reports them, state with WithoutEviction that it evicts nothing, or accept the loss of locks "+
		"with WithEvictingNodes", driver.ErrUnexamined)
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

// isRefusal distinguishes a server that refuses a command from one that cannot answer now, and from a connection that
// failed.
func isRefusal(err error) bool {
	var reply interface {
		error
		RedisError()
	}
	return errors.As(err, &reply) && !isNotNow(reply)
}

// isNotNow reports whether the server would answer the same question later. MASTERDOWN is not among these replies: a
// replica that gives it gives INFO, too.
func isNotNow(err error) bool {
	code, _, _ := strings.Cut(err.Error(), " ")
	return slices.Contains([]string{"BUSY", "LOADING", "TRYAGAIN", "CLUSTERDOWN"}, code)
}
