package cron_test

import (
	"os/exec"
	"syscall"
)

func becomeNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
}
