//go:build !linux

package process

import "syscall"

// sysProcAttr has no parent-death signal to ask for here.
func sysProcAttr() *syscall.SysProcAttr { return nil }
