//go:build !unix

package process

import "errors"

// Freeze fails: there are no signals here.
func Freeze(int) error { return errors.ErrUnsupported }

// Thaw fails: there are no signals here.
func Thaw(int) error { return errors.ErrUnsupported }
