//go:build unix

package pgproc

import "syscall"

// command is how a program of PostgreSQL is run: as the owner.
func (o *owner) command() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{}
	if o != nil {
		attr.Credential = &syscall.Credential{Uid: o.uid, Gid: o.gid}
	}
	return attr
}
