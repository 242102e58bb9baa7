package etcdproc

import (
	"os"
	"syscall"
)

// room is what a member needs: etcd takes 64 MB for its log before it has any.
const room = 256 << 20

// dataDir is where data of so many members goes: into memory, if there is a file system for that with room enough,
// which a container often has not. A disk that others keep busy makes each proposal wait for it, for seconds, and a
// killed process loses nothing in memory.
func dataDir(members int) string {
	if dir := os.Getenv("LOCKSCOPE_ETCD_DIR"); dir != "" {
		return dir
	}
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < uint64(members)*room {
		return os.TempDir()
	}
	return memory
}
