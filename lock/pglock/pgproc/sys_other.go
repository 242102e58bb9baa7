//go:build !unix

package pgproc

import "syscall"

// Where there are no such users, programs run as this process's own.

func (o *owner) command() *syscall.SysProcAttr { return nil }
func (o *owner) server() *syscall.SysProcAttr  { return nil }
