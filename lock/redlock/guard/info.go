package guard

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"

	"github.com/lockscope/lockscope/lock/driver"
)

// MasterID is the run id of a master, by its reply to INFO. For anything else the
// error says what it is.
func MasterID(text string) (runID string, err error) {
	info := redisinfo.Parse(text)
	return info.RunID(), mustBeMaster(info)
}

func mustBeMaster(info redisinfo.Info) error {
	switch {
	case info.RunID() == "" || info.Role() == "":
		return fmt.Errorf("%w: INFO tells no run_id or no role, as a proxy's may: name the server itself, or use WithoutGuard", driver.ErrUnexamined)
	case info.Role() == "slave":
		return fmt.Errorf("%w: name its master, or use a Sentinel client", driver.ErrReplica)
	}
	return nil
}
