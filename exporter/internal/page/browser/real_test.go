package browser

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// testRealLock contends for a lock on real servers. The page names the holder in another process while a caller here
// waits, and then that caller as the holder.
func testRealLock(t *testing.T, b *tab) {
	var urls []string
	for _, s := range locktest.Servers(t, 3) {
		urls = append(urls, "redis://"+s.Addr())
	}
	open := func(instance string) *engine.Engine {
		l, err := redlock.Open(urls, lock.WithInstance(instance), redlock.WithRestartQuarantine(0),
			lock.WithNodeTimeout(2*time.Second))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
	const resource = "order:<b>1001</b>"
	blocker, err := open("billing/7").Acquire(t.Context(), resource, lock.TTL(time.Minute))
	must(t, err)
	board, err := live.New(live.WithInstance("orders/1"))
	must(t, err)
	here, err := board.Wrap(open("orders/1"))
	must(t, err)
	served := make(chan lock.Lease, 1)
	go func() {
		defer close(served)
		if lease, err := here.Acquire(t.Context(), resource, lock.TTL(time.Minute)); err == nil {
			served <- lease
		}
	}()

	b.open(serve(t, board) + "#show=held")
	row := func(section string) string {
		return `[...document.querySelectorAll("` + section +
			`")].find(r => r.querySelector(".name").textContent === "` + resource + `")`
	}
	b.until(row("#blocked .rows > li") + `?.innerText.includes("billing/7")`)
	b.until(`[...document.querySelectorAll("#nodes tbody tr")].filter(r => r.innerText.includes("up")).length === 3`)

	must(t, blocker.Release(t.Context()))
	lease := <-served
	if lease == nil {
		t.Fatal("the waiter was not served")
	}
	b.until(row("#held tbody tr") + `?.innerText.includes("orders/1")`)
	b.until(row("#blocked .rows > li") + ` === undefined`)
	must(t, lease.Release(t.Context()))
	b.until(row("#held tbody tr") + ` === undefined`)
}
