package history

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// service takes locks on each set of servers and has a page, which its queue entries name.
func service(t *testing.T, name string, sets ...[]*redisproc.Server) (lockers []lock.Locker, url string) {
	t.Helper()
	board, err := live.New(live.WithInstance(name))
	cmdtest.Must(t, err)
	e, err := exporter.New(exporter.WithState(board))
	cmdtest.Must(t, err)
	page := httptest.NewServer(e)
	t.Cleanup(page.Close)
	t.Cleanup(e.Drain)
	url = page.URL + "/debug/locks"
	for i, servers := range sets {
		var clients []redis.UniversalClient
		for _, s := range servers {
			clients = append(clients, cmdtest.Admin(t, s))
		}
		l, err := redlock.New(clients, lock.WithInstance(name), lock.WithCallSites(), lock.WithPage(url),
			lock.WithBackend([]string{"eu", "us"}[i]), redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(time.Second))
		cmdtest.Must(t, err)
		t.Cleanup(func() { cmdtest.Must(t, l.Close()) })
		shown, err := board.Wrap(l)
		cmdtest.Must(t, err)
		lockers = append(lockers, shown)
	}
	return lockers, url
}

// hold takes a lock, and has each locker wait for it until the returned function is called.
func hold(t *testing.T, holder lock.Locker, resource string, waiters ...lock.Locker) (end func()) {
	t.Helper()
	lease, err := holder.Acquire(t.Context(), resource, lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for _, l := range waiters {
		waiting.Go(func() {
			if _, err := l.Acquire(ctx, resource); ctx.Err() == nil {
				t.Errorf("%s was acquired: %v", resource, err)
			}
		})
	}
	return func() {
		cancel()
		waiting.Wait()
		_ = lease.Release(context.WithoutCancel(t.Context()))
	}
}

// sampled waits until a page has so many seconds of waiting.
func sampled(t *testing.T, url string, seconds int) {
	t.Helper()
	cmdtest.Eventually(t, "samples", func() bool {
		_, body := cmdtest.Get(t, url+"/history?format=json")
		_, rest, _ := strings.Cut(body, `"waited_seconds":`)
		n := 0
		for _, c := range rest {
			if c < '0' || c > '9' {
				break
			}
			n = 10*n + int(c-'0')
		}
		return n >= seconds
	})
}

// TestHistory: two processes wait for a third, on two sets of servers; the holder comes first, in the sum of both.
func TestHistory(t *testing.T) {
	eu, us := locktest.Servers(t, 3), locktest.Servers(t, 1)
	orders, ordersPage := service(t, "orders-1", eu, us)
	carts, cartsPage := service(t, "carts-2", eu)
	billing := cmdtest.LockingProcess(t, "billing-3", eu)
	stock := cmdtest.LockingProcess(t, "stock-4", us)
	endEU := hold(t, billing, "order:1001", orders[0], orders[0], carts[0])
	defer endEU()
	endUS := hold(t, stock, "order:1001", orders[1])
	defer endUS()
	sampled(t, ordersPage, 9)
	sampled(t, cartsPage, 2)

	found := command(t, "--redis", cmdtest.Addrs(eu...), "--pages", "127.0.0.1", "--from", "-10m", "-o", "json")
	var asked report
	found.Decode(t, &asked)
	if len(asked.Pages) != 2 || asked.read() != 2 || asked.Blockers[0].Holder != "billing-3" {
		t.Errorf("found on the servers: %+v", asked)
	}
	endEU()
	endUS()

	o := command(t, "--page", ordersPage, "--page", cartsPage+"/", "-o", "json")
	var r report
	o.Decode(t, &r)
	if o.Status != app.ExitIncomplete || r.Schema != 1 { // the processes are younger than ten minutes
		t.Errorf("status %d, %s", o.Status, o.Err)
	}
	r.Blockers = slices.DeleteFunc(r.Blockers, func(b blocker) bool { return b.Holder == "" }) // before the first refusal
	if len(r.Blockers) != 2 || r.Blockers[0].Holder != "billing-3" || r.Blockers[1].Holder != "stock-4" ||
		len(r.Blockers[0].Waiters) != 2 || !strings.Contains(r.Blockers[0].CallSite, "history_test.go:") {
		t.Fatalf("blockers %+v", r.Blockers)
	}
	waited := 0
	for _, p := range r.Pages {
		waited += p.Waited
	}
	if len(r.Resources) != 2 || r.Resources[0].Backend != "eu" || r.Resources[1].Backend != "us" || waited != r.Waited ||
		r.Resources[0].Waited+r.Resources[1].Waited != r.Waited || r.Classes[0].Class != "holder" {
		t.Errorf("%d s in all, %d on pages; resources %+v", r.Waited, waited, r.Resources)
	}
	text := run.With(t, []string{"LANG=C.UTF-8"}, "", "history", "--page", ordersPage, "--page", cartsPage)
	text.Want(t, app.ExitIncomplete, "2 processes: ", "of waiting, up to ", "behind a holder ", "█", "BLOCKED BY",
		"billing-3 at history/history_test.go:", "order:1001 (us)", "orders-1 at ", " and 1 more", "lacks samples before")
	t.Log(text.Out)
	run.With(t, []string{"LANG=C"}, "", "history", "--page", ordersPage).WantNot(t, "█")
}

// TestUnreachable: a page that does not answer is named, beside what the others say.
func TestUnreachable(t *testing.T) {
	page := pageOf(t, "web-1", func(d *state.WaitHistory) {
		d.Waited, d.Classes, d.Blockers, d.Resources = 0, nil, nil, nil
	})
	gone := httptest.NewServer(nil)
	gone.Close()
	command(t, "--page", page, "--page", gone.URL).Want(t, app.ExitIncomplete, "1 process: no call waited",
		gone.URL+"/debug/locks was not read: dial tcp", "connection refused")
	command(t, "--page", gone.URL).Want(t, app.ExitError, "no page was read", "connection refused",
		"nothing is known of this span")
	old := httptest.NewServer(nil) // answers 404
	defer old.Close()
	command(t, "--page", old.URL).Want(t, app.ExitError, "its process has no history")
}

// TestOutside: a span that is not kept is said to be unknown, not empty.
func TestOutside(t *testing.T) {
	_, page := service(t, "orders-1")
	command(t, "--page", page, "--from", "-3h", "--to", "-2h").Want(t, app.ExitIncomplete,
		"nothing is known of this span", "(orders-1) has nothing of this span: its samples begin at")
}

// TestFlags: what cannot be read says what to type instead.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--from", "noon", "--page", "a:1"}, "--from \"noon\": use a time such as 02:10"},
		{[]string{"--from", "-10m", "--to", "-20m", "--page", "a:1"}, "must be after from"},
		{[]string{"--from", "-30h", "--page", "a:1"}, "more than 24h0m0s"},
		{[]string{"--page", "http://user:s3cr3t@a:1/debug/locks"}, "--page: use host:port"},
		{[]string{"--page", "ftp://a/debug/locks"}, "--page: use host:port"},
		{[]string{"--page", "a:1", "--rows", "0"}, "--rows 0"},
		{[]string{"--page", "a:1", "--pages", "a/b"}, "--pages: use off, listed"},
		{nil, "name the pages of processes with --page, or lock servers"},
	} {
		o := command(t, c.args...)
		o.Want(t, app.ExitError, c.want)
		o.WantNot(t, "s3cr3t")
	}
}

// TestNoPages: servers whose locks name no page.
func TestNoPages(t *testing.T) {
	servers := locktest.Servers(t, 1)
	l := cmdtest.LockingProcess(t, "billing-3", servers)
	lease, err := l.Acquire(t.Context(), "order:1001")
	cmdtest.Must(t, err)
	command(t, "--redis", cmdtest.Addrs(servers...)).Want(t, app.ExitError,
		"no lock or waiter on these servers names a page")
	cmdtest.Must(t, lease.Release(t.Context()))
	cmdtest.Must(t, servers[0].Stop())
	command(t, "--redis", cmdtest.Addrs(servers...), "--deadline", "2s").Want(t, app.ExitError, servers[0].Addr())
}
