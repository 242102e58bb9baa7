//go:build unix && !linux

package child

import "syscall"

// attributes: only Linux can kill a command whose parent was killed. The watchdog does it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Adopt does nothing: what a command leaves behind becomes a child of the first process.
func Adopt() {}
