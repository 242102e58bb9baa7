//go:build unix

package process

import "syscall"

// Freeze stops a process of any parent: it is there and does nothing until Thaw.
func Freeze(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Thaw lets a frozen process go on. On one that is not frozen it does nothing.
func Thaw(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
