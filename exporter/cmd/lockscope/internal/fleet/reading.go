package fleet

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/listing"
)

// QueuesErr is of queues that could not be read; nil if all could.
func QueuesErr(w *listing.Waits) error {
	switch {
	case w.Err != nil && redisconn.IsDenied(w.Err) && !redisconn.IsStranger(w.Err):
		return fmt.Errorf(
			"%w (grant +scan %%R~lockscope:queue:* %%R~lockscope:waiter:* "+
				"+zrange +zcard +mget)", w.Err)
	case w.Omitted:
		return fmt.Errorf("only the first %d locks with waiters were read: use --filter",
			listing.MaxWaitedFor)
	}
	return w.Err
}
