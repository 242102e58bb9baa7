package process

import "syscall"

// sysProcAttr makes the kernel kill the program when the thread that starts it ends:
// see Process.own. In a group of its own it does not hear a terminal's Ctrl-C.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
