//go:build linux

package worker

import (
	"net"
	"os"
	"runtime"
	"time"
)

// Leak is what a worker loses hold of ten times a second.
type Leak string

// The leaks that can be planted.
const (
	LeakGoroutine  Leak = "goroutine"
	LeakConnection Leak = "connection" // to the first node
	LeakMemory     Leak = "memory"     // 256 KiB
	LeakDescriptor Leak = "descriptor"
)

// Leaks are all of them.
var Leaks = []Leak{LeakGoroutine, LeakConnection, LeakMemory, LeakDescriptor}

const (
	leakEvery = 100 * time.Millisecond
	leakBytes = 256 << 10
)

// leak leaks until over is closed, and tidies up then: only a look at the process while it runs finds it.
func (w *worker) leak(over <-chan struct{}) {
	if w.cfg.Leak == "" {
		return
	}
	tick := time.NewTicker(leakEvery)
	defer tick.Stop()
	var kept [][]byte
	defer func() { runtime.KeepAlive(kept) }()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		switch w.cfg.Leak {
		case LeakGoroutine:
			go func() { <-over }()
		case LeakConnection:
			if conn, err := net.Dial("tcp", w.cfg.Nodes[0]); err == nil {
				defer func() { _ = conn.Close() }()
			}
		case LeakMemory:
			block := make([]byte, leakBytes)
			for i := range block {
				block[i] = byte(i) // makes the page resident
			}
			kept = append(kept, block)
		case LeakDescriptor:
			if f, err := os.Open(os.DevNull); err == nil {
				defer f.Close()
			}
		}
	}
}
