package lock

import (
	"net/url"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// WithCallSites makes every Acquire remember where it was called: the file, its folder
// and the line, as "orders/charge.go:42". The lock's value, [HeldError], the trace and
// the queue entries of waiters say it. It costs a walk up the stack for each Acquire: see
// BENCHMARKS.md of package redlock.
func WithCallSites() Option { return func(s *Settings) { s.CallSites = true } }

// WithPage says where this process shows who holds and who waits, as
// "http://10.0.0.7:9090/debug/locks". It is written into the locks it holds and its
// entries in queues, for whoever sees one of them to find the page.
func WithPage(url string) Option { return func(s *Settings) { s.Page = url } }

// validPage refuses what nobody could open, and a URL with credentials: others read it.
func validPage(page string) bool {
	if page == "" {
		return true
	}
	u, err := url.Parse(page)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && len(page) <= maxPageLength
}

// passedThrough are packages that callers of Acquire may go through.
var passedThrough = [...]string{
	"github.com/lockscope/lockscope/lock.", "github.com/lockscope/lockscope/lock/decorate.",
	"github.com/lockscope/lockscope/lock/memlock.", "github.com/lockscope/lockscope/instrument.",
	"github.com/lockscope/lockscope/exporter/live.",
}

// callSite is the nearest caller outside of lockscope; "" if there is none within reach.
func callSite() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.File != "" && !passesThrough(frame.Function) {
			return path.Join(path.Base(path.Dir(frame.File)), path.Base(frame.File)) + ":" + strconv.Itoa(frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func passesThrough(function string) bool {
	for _, prefix := range passedThrough {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
