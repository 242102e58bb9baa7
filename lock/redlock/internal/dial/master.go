package dial

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

const (
	askMasterAfter = time.Second            // how long the sentinels' last answer is used
	maxPatience    = 100 * time.Millisecond // how long a command waits for an answer at most
	maxQuestion    = 5 * time.Minute        // how long they may take to answer, in the background
)

// Master keeps a Sentinel client's connections on the present master. When the sentinels switch masters,
// go-redis drops only the pooled connections of the caller's client. Derived connections would stay with the
// demoted master while it answers, and take locks there that the new master does not have.
type Master struct {
	dial     Func // asks the sentinels, and connects to the master they name
	clock    func() time.Duration
	patience time.Duration // how much of a command's time may go to asking
	lifetime context.Context
	end      context.CancelFunc
	question sync.WaitGroup

	mu        sync.Mutex
	master    string // remote address of the last connection made
	made      int    // how many connections were
	checked   time.Duration
	suspected bool
	asking    bool
	conns     map[*masterConn]struct{}
}

// WatchMaster watches the master that dial leads to. A command waits for the sentinels at most a quarter of the
// node timeout. Close ends the watch.
func WatchMaster(dial Func, clock func() time.Duration, nodeTimeout time.Duration) *Master {
	w := &Master{
		dial: dial, clock: clock, patience: min(nodeTimeout/4, maxPatience), suspected: true,
		conns: make(map[*masterConn]struct{}),
	}
	w.lifetime, w.end = context.WithCancel(context.Background())
	return w
}

// Patient lets a dial through the sentinels outlast the call that began it. go-redis leaves a sentinel that hangs
// only after its own timeouts and retries, and never if the dial's context has ended by then. Later calls would
// then ask the hanging sentinel forever.
func Patient(dial Func) Func {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxQuestion)
		defer cancel()
		return dial(ctx, network, addr)
	}
}

// Connect is the dialer given to go-redis.
func (w *Master) Connect(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := w.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	own := &masterConn{Conn: conn, watch: w}
	w.mu.Lock()
	w.conns[own] = struct{}{}
	w.made++
	w.mu.Unlock()
	w.found(conn.RemoteAddr().String())
	if _, ok := conn.(syscall.Conn); ok {
		return pollableConn{own}, nil
	}
	return own, nil
}

// Check connects to the master if a check is due, only to learn its address. If that fails, the present
// connections stay: sentinels that are down or hang must not break the locks. An answer counts even if it comes
// after Check returned.
func (w *Master) Check(ctx context.Context) {
	if !w.due() {
		return
	}
	answered := make(chan struct{})
	go func() {
		defer w.question.Done()
		defer close(answered)
		w.ask()
	}()
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

// due reports whether the caller has to ask, and counts its question: Close waits for it. Only one caller does; the
// others continue.
func (w *Master) due() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	if w.asking || w.lifetime.Err() != nil || !w.suspected && now-w.checked < askMasterAfter {
		return false
	}
	w.checked, w.suspected = now, false
	if w.asking = len(w.conns) > 0; w.asking { // the next connection will ask by itself
		w.question.Add(1)
	}
	return w.asking
}

func (w *Master) ask() {
	w.mu.Lock()
	made := w.made
	w.mu.Unlock()
	conn, err := w.dial(w.lifetime, "tcp", redisconn.SentinelAddress)
	w.mu.Lock()
	w.asking = false
	if err != nil {
		w.checked = w.clock()
	}
	newest := made == w.made
	w.mu.Unlock()
	if err != nil {
		return
	}
	if newest { // a connection made meanwhile has a newer answer
		w.found(conn.RemoteAddr().String())
	}
	_ = conn.Close()
}

// Close gives up the question under way and waits for it.
func (w *Master) Close() {
	w.mu.Lock()
	w.end() // under the lock, so that no question begins after it
	w.mu.Unlock()
	w.question.Wait()
}

// Suspect makes the next command ask the sentinels first.
func (w *Master) Suspect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suspected = true
}

// found closes the connections to other servers. Commands under way on them fail, as when a server dies.
func (w *Master) found(master string) {
	w.mu.Lock()
	var elsewhere []*masterConn
	if w.master != master {
		w.master = master
		for c := range w.conns {
			if c.RemoteAddr().String() != master {
				elsewhere = append(elsewhere, c)
			}
		}
	}
	w.mu.Unlock()
	for _, c := range elsewhere {
		_ = c.Close()
	}
}

// masterConn leaves its Master when it is closed.
type masterConn struct {
	net.Conn
	watch *Master
}

func (c *masterConn) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	return c.Conn.Close()
}

// pollableConn lets go-redis find out whether an idle connection is still good.
type pollableConn struct{ *masterConn }

func (c pollableConn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}
