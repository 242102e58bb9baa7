package fleet

import (
	"net/netip"
	"testing"
	"unicode/utf8"
)

// FuzzAnswer: an address that a waiter left in Redis may lead to any server.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"instance":"vm/23304","waiting":[{"resource":"backup","backend":"redis","for_seconds":1.5,` +
		`"kind":"attempt",` +
		`"call_site":"a.go:1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","holds":["order:1"]}],` +
		`"blocked":[{"resource":"backup","waiting":3,"kind":"semaphore","slots":5}],"read_seconds":0.5}`))
	f.Add([]byte(`{"instance":"\ud800<script>","waiting":[],"blocked":[{"waiting":-1},{"waiting":9223372036854775807}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := decode(text)
		if err != nil {
			return
		}
		if len(a.Instance) > maxName || !utf8.ValidString(a.Instance) {
			t.Fatalf("instance %q", a.Instance)
		}
		for _, c := range a.calls() {
			if len(c.Resource) > maxResource || len(c.Holds) > maxHolds || !utf8.ValidString(c.Resource+c.Class+c.Kind) {
				t.Fatalf("%q: call %+v", text, c)
			}
		}
		counts := a.counts()
		for _, c := range counts {
			if c.Waiting < 0 || len(c.Resource) > maxResource {
				t.Fatalf("%q: count %+v", text, c)
			}
		}
		if len(counts) > maxCounts {
			t.Fatalf("%d counts", len(counts))
		}
	})
}

// FuzzAddress: Redis has these addresses, so anybody who writes to it chooses them.
func FuzzAddress(f *testing.F) {
	f.Add("*.orders.svc", "http://a.orders.svc:8080/debug/locks")
	f.Add("listed", "http://user:pw@h/debug/locks")
	f.Add("[a-", "http://[::1]/debug/locks/")
	f.Add("127.0.0.?", "https://127.0.0.1/x?y#/debug/locks")
	f.Fuzz(func(t *testing.T, policy, page string) {
		p, err := ParsePolicy(policy)
		if err != nil {
			return
		}
		u, err := p.address(page)
		if err != nil {
			return
		}
		if p.Off() || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Host == "" ||
			u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("policy %q allows %q as %v", policy, page, u)
		}
	})
}

// FuzzReaches: no name reaches this machine where the policy lists pages.
func FuzzReaches(f *testing.F) {
	f.Add("localhost", "127.0.0.1:80")
	f.Add("h", "[::ffff:127.0.0.1]:80")
	f.Add("h", "169.254.169.254:80")
	f.Add("h", "[::]:80")
	f.Fuzz(func(t *testing.T, host, address string) {
		p, err := ParsePolicy("listed")
		if err != nil {
			t.Fatal(err)
		}
		if p.reaches(host, address) != nil {
			return
		}
		ip := mustParse(t, address)
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
			t.Fatalf("%q reaches %q", host, address)
		}
	})
}

func mustParse(t *testing.T, address string) netip.Addr {
	t.Helper()
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatalf("%q is no address, and is reached", address)
	}
	return to.Addr().Unmap()
}
