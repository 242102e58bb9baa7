//go:build linux

// Package wallclock gives a program a wall clock that can be stepped, and that runs too
// fast or too slow, by a small library preloaded into it. The clock does not follow the
// machine's: it goes on from where it was with CLOCK_MONOTONIC, so that nothing but the
// test ever steps it. Linux only.
package wallclock

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// setting is what the shim reads: see shim/wallclock.c.
type setting struct {
	version atomic.Uint64
	since   atomic.Int64
	shown   atomic.Int64
	ppb     atomic.Int64
}

// Clock is the wall clock of one program. Its methods may be called concurrently.
type Clock struct {
	shim   *Shim
	file   string
	mapped []byte

	mu      sync.Mutex
	setting *setting
}

// New makes a clock that shows the time of now, and runs true.
func (s *Shim) New(name string) (*Clock, error) {
	c := &Clock{shim: s, file: filepath.Join(s.dir, name+".clock")}
	if err := os.WriteFile(c.file, make([]byte, unsafe.Sizeof(setting{})), 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(c.file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c.mapped, err = unix.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(setting{})), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("wallclock: %s: %w", c.file, err)
	}
	c.setting = (*setting)(unsafe.Pointer(&c.mapped[0]))
	c.set(history.Now(), time.Now().UnixNano(), 0)
	return c, nil
}

// Env is what the program is started with.
func (c *Clock) Env() []string {
	return []string{"LD_PRELOAD=" + c.shim.library, "WALLCLOCK_FILE=" + c.file}
}

// Step moves the clock by d, at once.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := history.Now()
	c.set(now, c.at(now)+int64(d), c.setting.ppb.Load())
}

// SetRate makes the clock run too fast by so many parts in a billion, or too slow. What it
// shows now does not change.
func (c *Clock) SetRate(ppb int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := history.Now()
	c.set(now, c.at(now), ppb)
}

// Offset is how far the clock is ahead of this machine's.
func (c *Clock) Offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.at(history.Now()) - time.Now().UnixNano())
}

// Close lets go of the memory; the program goes on with the clock as it is. No other
// method may be called after it.
func (c *Clock) Close() error { return unix.Munmap(c.mapped) }

// at is what the clock shows at an instant.
func (c *Clock) at(now int64) int64 {
	passed := now - c.setting.since.Load()
	return c.setting.shown.Load() + passed + int64(float64(passed)*float64(c.setting.ppb.Load())/1e9)
}

func (c *Clock) set(since, shown, ppb int64) {
	c.setting.version.Add(1)
	c.setting.since.Store(since)
	c.setting.shown.Store(shown)
	c.setting.ppb.Store(ppb)
	c.setting.version.Add(1)
}
