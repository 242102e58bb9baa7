//go:build unix && !linux

package process

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// sysProcAttr has no parent-death signal to ask for here: programs survive an abrupt
// death of this one.
func sysProcAttr(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	return attr
}

// isFrozen asks ps, as there is no /proc to read and waiting for the stop with wait4
// could steal the exit from os/exec.
func isFrozen(pid int) (bool, error) {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false, fmt.Errorf("ps: %w", err)
	}
	return strings.HasPrefix(strings.TrimSpace(string(state)), "T"), nil
}
