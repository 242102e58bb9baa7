package cmdtest

import (
	"testing"

	"github.com/lockscope/lockscope/lock/locktest/netfault"
)

// Silent forwards nothing that clients say to a server, until Midway.
func Silent(t testing.TB, addr string) *netfault.Proxy {
	t.Helper()
	p, err := netfault.Listen(addr)
	Must(t, err)
	t.Cleanup(func() { Must(t, p.Close()) })
	p.Hold()
	return p
}

// Midway has the server answer some requests, one after the other, and no more: it hangs in the middle of a look.
func Midway(t testing.TB, p *netfault.Proxy, requests int) {
	t.Helper()
	for range requests {
		Eventually(t, "a request", func() bool { return p.Held() > 0 })
		p.Flow()
		p.Hold()
	}
	Eventually(t, "a request that nobody answers", func() bool { return p.Held() > 0 })
}
