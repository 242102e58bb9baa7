package pgproc

import "syscall"

// server is how a server is run: the kernel ends it in a hurry, but in order, if this process dies.
func (o *owner) server() *syscall.SysProcAttr {
	attr := o.command()
	attr.Pdeathsig = syscall.SIGQUIT
	return attr
}
