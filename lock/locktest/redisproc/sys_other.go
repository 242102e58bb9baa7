//go:build !unix

package redisproc

import (
	"errors"
	"os"
	"syscall"
)

// Where there are no stop and continue signals, servers can be started and killed but not paused.

func sysProcAttr() *syscall.SysProcAttr { return nil }

func pause(*os.Process) error     { return errors.ErrUnsupported }
func resume(*os.Process) error    { return errors.ErrUnsupported }
func askToExit(*os.Process) error { return errors.ErrUnsupported }

func isPaused(int) (bool, error) { return false, errors.ErrUnsupported }
