//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// Where there are no such signals, programs can be started and killed.

func sysProcAttr(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }

func freeze(*os.Process) error    { return errors.ErrUnsupported }
func thaw(*os.Process) error      { return errors.ErrUnsupported }
func askToExit(*os.Process) error { return errors.ErrUnsupported }

func isFrozen(int) (bool, error) { return false, errors.ErrUnsupported }
