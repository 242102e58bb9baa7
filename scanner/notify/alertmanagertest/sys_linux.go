package alertmanagertest

import "syscall"

// sysProcAttr makes the kernel kill the process when the thread that starts it ends: see process.own.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
