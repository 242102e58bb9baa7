package livetest

import (
	"context"

	"github.com/lockscope/lockscope/lock"
)

// acquirer calls Acquire in a file of an application, as call sites have it: the line comments name the files.
type acquirer func(context.Context, lock.Locker, string, ...lock.AcquireOption) (lock.Lease, error)

func charge(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
//line orders/charge.go:42
	return l.Acquire(ctx, resource, opts...)
}

func reserve(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
//line stock/reserve.go:88
	return l.Acquire(ctx, resource, opts...)
}

func settle(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
//line invoices/settle.go:117
	return l.Acquire(ctx, resource, opts...)
}

func daily(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
//line reports/daily.go:31
	return l.Acquire(ctx, resource, opts...)
}

// siteOf is where a resource is acquired.
func siteOf(resource string) acquirer {
	switch resource[:min(len(resource), 5)] {
	case "stock", "cart:":
		return reserve
	case "invoi", "ledge":
		return settle
	case "repor", "mail:":
		return daily
	}
	return charge
}
