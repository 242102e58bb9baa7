//go:build linux

package viewers

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal, for a program that draws only on one.
type terminal struct {
	person  *os.File // who looks
	process *os.File // the side of the program
}

func openTerminal() (_ *terminal, err error) {
	// Not blocking, so that a read of it can be ended.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &terminal{person: os.NewFile(uintptr(fd), "/dev/ptmx")}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160})
	}
	if err == nil {
		t.process, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a terminal: %w", err), t.person.Close())
	}
	return t, nil
}

func (t *terminal) close() error { return errors.Join(t.process.Close(), t.person.Close()) }
