package guard

import "errors"

// Why a node may not vote. Package lock exports them under the same names.
var (
	ErrQuarantined   = errors.New("node restarted and may not vote yet")
	ErrDuplicateNode = errors.New("two endpoints are the same redis server")
	ErrReplica       = errors.New("node is a replica")
	ErrEvicting      = errors.New("node may evict locks: its maxmemory-policy is not noeviction")
	ErrUnguarded     = errors.New("node could not be examined")
)
