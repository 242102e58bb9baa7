//go:build unix && !linux

package pgproc

import "syscall"

// server is how a server is run: here nothing ends it if this process dies.
func (o *owner) server() *syscall.SysProcAttr { return o.command() }
