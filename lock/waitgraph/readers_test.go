package waitgraph_test

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

// read is a resource with readers: an instance each, all with one fence.
func read(name string, fence uint64, instances []string, waiters ...records.Waiting) waitgraph.Resource {
	r := waitgraph.Resource{Name: name, Waiters: waiters}
	for _, instance := range instances {
		l := waitgraph.Lease{Fence: fence, Holder: lock.Holder{Instance: instance, Kind: lock.KindRead}}
		if r.Readers = append(r.Readers, l); r.Lease == nil {
			r.Lease, r.Readers = &l, nil
		}
	}
	return r
}

// TestReaders: p9 holds "order" and waits to write "prices", which p1, p2 and p3 read.
func TestReaders(t *testing.T) {
	readers := []string{"p1", "p2", "p3"}
	writer := waitsAs(lock.KindWrite, 0, "p9", lease("order", 5))
	reads := func(instance string, holds ...lock.HeldLease) records.Waiting {
		return waitsAs(lock.KindRead, 0, instance, holds...)
	}
	ring := []string{`"order" (fence 5) waits for "prices" (fence 7) waits for "order"`}
	self := []string{`"prices" (fence 7) waits for "prices"`}
	for name, c := range map[string]struct {
		graph  []waitgraph.Resource
		cycles []string
		stuck  []string
	}{
		"no reader waits": {[]waitgraph.Resource{held("order", 5, "p9"), read("prices", 7, readers, writer)}, nil, nil},
		"the first reader waits for the order": {
			[]waitgraph.Resource{held("order", 5, "p9", waits("p1", 0, lease("prices", 7))),
				read("prices", 7, readers, writer)}, ring, []string{"order", "prices"}},
		"the last one does": {
			[]waitgraph.Resource{held("order", 5, "p9", waits("p3", 0, lease("prices", 7))),
				read("prices", 7, readers, writer)}, ring, []string{"order", "prices"}},
		"the last one does, and two sources know of one reader each": {
			[]waitgraph.Resource{held("order", 5, "p9", waits("p3", 0, lease("prices", 7))),
				read("prices", 7, []string{"p1"}, writer), read("prices", 7, []string{"p3"})}, ring,
			[]string{"order", "prices"}},
		"one who reads no more does": {
			[]waitgraph.Resource{held("order", 5, "p9", waits("p4", 0, lease("prices", 7))),
				read("prices", 7, readers, writer)}, nil, nil},
		"a reader reads again, behind the writer": {
			[]waitgraph.Resource{read("prices", 7, readers, waitsAs(lock.KindWrite, 0, "p9"),
				reads("p2", lease("prices", 7)))}, self, []string{"prices"}},
		"a reader reads again, and nobody writes": {
			[]waitgraph.Resource{read("prices", 7, readers, reads("p2", lease("prices", 7)))}, nil, nil},
		"a reader reads again, behind somebody unknown": {
			[]waitgraph.Resource{read("prices", 7, readers, waits("", 0), reads("p2", lease("prices", 7)))}, self,
			[]string{"prices"}},
		"a reader waits for the writer, which waits for the reader's order": {
			[]waitgraph.Resource{held("order", 5, "p9", waits("p1", 0, lease("prices", 7))),
				held("prices", 7, "p1", reads("p9", lease("order", 5)))}, ring, []string{"order", "prices"}},
		"two readers, each of the lock that the other wants to write": {
			[]waitgraph.Resource{
				read("prices", 7, []string{"p1", "p3"}, waitsAs(lock.KindWrite, 0, "p2", lease("stock", 8))),
				read("stock", 8, []string{"p4", "p2"}, waitsAs(lock.KindWrite, 0, "p1", lease("prices", 7)))},
			[]string{`"prices" (fence 7) waits for "stock" (fence 8) waits for "prices"`}, []string{"prices", "stock"}},
		"a permit of two, and one slot is free": {
			[]waitgraph.Resource{held("jobs#0", 1, "p9", waitsAs(lock.KindSemaphore, 2, "p1", lease("prices", 7))),
				held("jobs#1", 2, "p2"),
				read("prices", 7, readers, waitsAs(lock.KindWrite, 0, "p9", lease("jobs#0", 1)))}, nil, nil},
		"a permit of two, and both holders wait to write": {
			[]waitgraph.Resource{held("jobs#0", 1, "p9", waitsAs(lock.KindSemaphore, 2, "p1", lease("prices", 7))),
				held("jobs#1", 2, "p8"),
				read("prices", 7, readers, waitsAs(lock.KindWrite, 0, "p9", lease("jobs#0", 1)),
					waitsAs(lock.KindWrite, 0, "p8", lease("jobs#1", 2)))},
			[]string{`"jobs#0" (fence 1) waits for "prices" (fence 7) waits for "jobs#0"`,
				`"jobs#1" (fence 2) waits for "prices" (fence 7) waits for "jobs#1"`},
			[]string{"jobs#0", "jobs#1", "prices"}},
		"a set that lacks the write lock, and a reader who wants the rest of the set": {
			[]waitgraph.Resource{held("a", 1, "p1"), held("b", 2, "p1", waits("p2", 0, lease("prices", 7))),
				read("prices", 7, readers, waitsAs(lock.KindSet, 0, "p1", lease("a", 1), lease("b", 2)))},
			[]string{`"b" (fence 2) waits for "prices" (fence 7) waits for "b"`}, []string{"a", "b", "prices"}},
	} {
		g := waitgraph.New(c.graph...)
		if got := texts(g.Cycles()); !slices.Equal(got, c.cycles) {
			t.Errorf("%s: cycles\n%q, want\n%q", name, got, c.cycles)
		}
		var stuck []string
		for _, resource := range []string{"a", "b", "jobs#0", "jobs#1", "order", "prices", "stock"} {
			if g.Stuck(resource) {
				stuck = append(stuck, resource)
			}
		}
		if !slices.Equal(stuck, c.stuck) {
			t.Errorf("%s: stuck are %q, want %q", name, stuck, c.stuck)
		}
	}
}
