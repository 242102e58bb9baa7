//go:build !linux

package etcdproc

import "os"

func dataDir(int) string {
	if dir := os.Getenv("LOCKSCOPE_ETCD_DIR"); dir != "" {
		return dir
	}
	return os.TempDir()
}
