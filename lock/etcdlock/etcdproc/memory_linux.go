package etcdproc

import (
	"os"
	"syscall"
)

// room is what a member needs: etcd allocates 64 MB for its log at the start.
const room = 256 << 20

// dataDir returns the directory for the data of this many members. It is in memory if a file system there has enough
// room, which containers often lack. On a busy disk each proposal may wait for seconds, and a killed process loses
// nothing in memory.
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
