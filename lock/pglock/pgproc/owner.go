package pgproc

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// owner is who servers run as and own their files. It is nil for this process's own user.
type owner struct{ uid, gid uint32 }

// newOwner returns the user postgres if this process is root: PostgreSQL refuses to be root.
func newOwner() (*owner, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: it refuses to run as root, and there is no user for it: %w", ErrNotInstalled, err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &owner{uint32(uid), uint32(gid)}, nil
}

// give makes the owner that of files which this process has made.
func (o *owner) give(paths ...string) (err error) {
	if o == nil {
		return nil
	}
	for _, path := range paths {
		err = errors.Join(err, os.Chown(path, int(o.uid), int(o.gid)))
	}
	return err
}
