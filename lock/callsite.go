package lock

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

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
