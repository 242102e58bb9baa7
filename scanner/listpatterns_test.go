package scanner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestListSeveralPatterns lists each lock once, under the first pattern that matches, and strips that pattern's prefix.
func TestListSeveralPatterns(t *testing.T) {
	for _, path := range paths() {
		t.Run(string(path), func(t *testing.T) { testListSeveralPatterns(t, path) })
	}
}

func testListSeveralPatterns(t *testing.T, path report.Path) {
	n := startNodes(t, 2)
	for _, c := range n.clients {
		for _, key := range []string{"lock:a", "lock:b:c", "job-lock:default:nightly", "other:x"} {
			must(t, c.Set(within(t), key, redsyncValue, time.Minute).Err())
		}
	}
	s := newScanner(t, n.clients, scanner.UsePath(path),
		scanner.WithPatterns("lock:b:*", "lock:*", "job-lock:default:*"))
	all, err := s.List(within(t), listing.Options{Order: listing.ByResource, Waits: true})
	must(t, err)
	var got []string
	for _, l := range all.Locks {
		got = append(got, fmt.Sprintf("%s=%s %d/%d", l.Resource, l.Key, l.Nodes, l.Of))
	}
	want := []string{"a=lock:a 2/2", "b:c=lock:b:c 2/2", "nightly=job-lock:default:nightly 2/2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if all.Omitted != 0 || all.Nodes[0].Locks != 3 || all.Nodes[1].Locks != 3 {
		t.Errorf("%d omitted, %+v", all.Omitted, all.Nodes)
	}
	all, err = s.List(within(t), listing.Options{Contains: "night"})
	must(t, err)
	if len(all.Locks) != 1 || all.Locks[0].Resource != "nightly" {
		t.Errorf("%+v", all.Locks)
	}
}
