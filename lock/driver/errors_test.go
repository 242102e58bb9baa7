package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want driver.Class
	}{
		{nil, ""},
		{errors.New("x"), driver.Other},
		{context.Canceled, driver.Other},
		{fmt.Errorf("%w (%v)", driver.ErrTimeout, context.DeadlineExceeded), driver.Timeout},
		{context.DeadlineExceeded, driver.Timeout},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, driver.Timeout},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, driver.Unreachable},
		{fmt.Errorf("reply: %w", io.ErrUnexpectedEOF), driver.Unreachable},
		{driver.ErrNotSent, driver.Busy},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}),
			driver.Unreachable},
		{fmt.Errorf("%w: %w: for 3s", driver.ErrNotSent, driver.ErrQuarantined), driver.Quarantined},
		{fmt.Errorf("%w: %w", driver.ErrDenied, &net.OpError{Op: "read", Err: io.EOF}), driver.Denied},
		{driver.ErrFenceCounter, driver.Misconfigured},
		{driver.ErrTombstone, driver.Other},
	} {
		if got := driver.ClassOf(c.err); got != c.want {
			t.Errorf("ClassOf(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

// TestClassesDisagreeOnNothing: a silent node is not barred, and a barred node stays barred.
func TestClassesDisagreeOnNothing(t *testing.T) {
	barred := 0
	for _, c := range []driver.Class{
		driver.Other, driver.Timeout, driver.Unreachable, driver.Busy, driver.Denied, driver.Quarantined,
		driver.Replica, driver.Evicting, driver.Duplicate, driver.Misconfigured,
	} {
		if c.Barred() && (c.Silent() || !c.Permanent()) || c.Silent() && c.Permanent() {
			t.Errorf("%s: barred %v, permanent %v, silent %v", c, c.Barred(), c.Permanent(), c.Silent())
		}
		if c.Barred() {
			barred++
		}
	}
	if barred != 5 {
		t.Errorf("%d classes are barred", barred)
	}
}

func TestDescribeShowsNoDetail(t *testing.T) {
	err := fmt.Errorf("%w: %w", driver.ErrDenied, errors.New("NOPERM s3cr3t"))
	if text := driver.Describe(err); text == "" || strings.Contains(text, "s3cr3t") ||
		!strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%q is described as %q", err, text)
	}
	if text := driver.Describe(errors.New("s3cr3t")); text != "" {
		t.Errorf("an error without a class is described as %q", text)
	}
}
