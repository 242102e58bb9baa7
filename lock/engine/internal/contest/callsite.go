package contest

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// passedThrough are packages that callers of Acquire may go through.
var passedThrough = [...]string{
	"github.com/lockscope/lockscope/lock.", "github.com/lockscope/lockscope/lock/engine.",
	"github.com/lockscope/lockscope/lock/engine/internal/contest.",
	"github.com/lockscope/lockscope/lock/decorate.", "github.com/lockscope/lockscope/lock/election.",
	"github.com/lockscope/lockscope/lock/lockset.", "github.com/lockscope/lockscope/lock/semaphore.",
	"github.com/lockscope/lockscope/lock/rwlock.", "github.com/lockscope/lockscope/lock/memlock.",
	"github.com/lockscope/lockscope/instrument.", "github.com/lockscope/lockscope/exporter/live.",
}

// goexit is what calls a function that has a goroutine of its own.
const goexit = "runtime.goexit"

// nearestCaller is where the function was called that calls it: the nearest caller outside of
// lockscope; "" if there is none within reach.
func nearestCaller() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == goexit:
			return ""
		case frame.File != "" && !passesThrough(frame.Function):
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
