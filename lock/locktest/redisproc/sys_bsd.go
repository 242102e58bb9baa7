//go:build unix && !linux

package redisproc

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// sysProcAttr has no parent-death signal to ask for here: servers survive an abrupt death of the program.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// isPaused asks ps, as there is no /proc to read and waiting for the stop with wait4 could steal the exit from os/exec.
func isPaused(pid int) (bool, error) {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false, fmt.Errorf("ps: %w", err)
	}
	return strings.HasPrefix(strings.TrimSpace(string(state)), "T"), nil
}
