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
	askMasterAfter = time.Second            // how long the sentinels' word on who is master is believed
	maxPatience    = 100 * time.Millisecond // how long a command waits for it at most
	maxQuestion    = 5 * time.Minute        // how long they may take to answer, behind the commands
)

// Master keeps a Sentinel client's connections on the current master. When the
// sentinels switch masters, go-redis drops the pooled connections of the caller's
// client only; ours would stay with the demoted master as long as it answers, and
// take locks there that the new one knows nothing of.
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

// WatchMaster watches the master that dial leads to. A command waits for the sentinels at
// most for a part of the timeout of a node's calls. Close ends the watch.
func WatchMaster(dial Func, clock func() time.Duration, nodeTimeout time.Duration) *Master {
	w := &Master{
		dial: dial, clock: clock, patience: min(nodeTimeout/4, maxPatience), suspected: true,
		conns: make(map[*masterConn]struct{}),
	}
	w.lifetime, w.end = context.WithCancel(context.Background())
	return w
}

// Patient lets a dial through the sentinels outlast the call that began it. go-redis turns
// from a sentinel that hangs to the next one only after its own timeouts and retries, and
// not at all if the dial's context has ended by then: the calls after would ask the one
// that hangs for ever.
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

// Check connects to the master, if that is due, only to see who it is. Where that
// fails, the connections there are go on: sentinels that are down or hang must not
// take the locks with them. Their answer counts even if it comes after Check returned.
func (w *Master) Check(ctx context.Context) {
	if !w.due() {
		return
	}
	answered := make(chan struct{})
	w.question.Go(func() {
		defer close(answered)
		w.ask()
	})
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

// due reports that the caller has to ask: one does, the others go on.
func (w *Master) due() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	if w.asking || w.lifetime.Err() != nil || !w.suspected && now-w.checked < askMasterAfter {
		return false
	}
	w.checked, w.suspected = now, false
	w.asking = len(w.conns) > 0 // the next connection will ask by itself
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
	if newest { // a connection made meanwhile says it better
		w.found(conn.RemoteAddr().String())
	}
	_ = conn.Close()
}

// Close gives up the question under way and waits for it.
func (w *Master) Close() {
	w.mu.Lock()
	w.end() // under the lock: no question begins any more
	w.mu.Unlock()
	w.question.Wait()
}

// Suspect makes the next command ask the sentinels first.
func (w *Master) Suspect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suspected = true
}

// found closes the connections that lead elsewhere. What is under way on them fails,
// as it does when a server dies.
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

// masterConn is forgotten when it is closed.
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
