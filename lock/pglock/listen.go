package pglock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver"
)

// channelPrefix begins the name of the channel on which a waiter is told, by function
// name_next.
const channelPrefix = "lockscope:"

const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// listener has one connection on which a waiter hears that it is its turn.
type listener struct {
	config *pgx.ConnConfig
	life   context.Context
	end    context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	ready  chan struct{} // closed once it has listened; nil before the first subscribe
	pooler chan struct{} // closed once that is known to be in vain
}

func newListener(config *pgx.ConnConfig) *listener {
	life, end := context.WithCancel(context.Background())
	return &listener{config: config.Copy(), life: life, end: end, pooler: make(chan struct{})}
}

// errPooler says that what is listened for on this connection may arrive at another.
var errPooler = fmt.Errorf(
	"%w: there is a pooler before the server: give WithListener its own address, or WithoutListener",
	driver.ErrMisconfigured)

// subscribe returns once the connection listens, or ctx ends. It goes on trying in the
// background; each time it listens anew, messages may have been missed.
func (l *listener) subscribe(ctx context.Context, waiterID string, wake func(key string)) error {
	l.mu.Lock()
	if l.life.Err() != nil {
		l.mu.Unlock()
		return l.life.Err()
	}
	if l.ready == nil {
		l.ready = make(chan struct{})
		ready := sync.OnceFunc(func() { close(l.ready) })
		l.done.Go(func() { l.listen(waiterID, wake, ready) })
	}
	ready := l.ready
	l.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-l.pooler:
		return errPooler
	case <-ctx.Done():
		return classify(ctx.Err())
	}
}

// listen keeps a connection, until close, or until it is known to be in vain.
func (l *listener) listen(waiterID string, wake func(key string), ready func()) {
	pause := firstRetry
	for l.life.Err() == nil {
		began := time.Now()
		if errors.Is(l.session(waiterID, wake, ready), errPooler) {
			close(l.pooler)
			return
		}
		if time.Since(began) > lastRetry {
			pause = firstRetry
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.life.Done():
			timer.Stop()
		}
		pause = min(2*pause, lastRetry)
	}
}

// session listens on one connection, until that breaks.
func (l *listener) session(waiterID string, wake func(key string), ready func()) error {
	conn, err := pgx.ConnectConfig(l.life, l.config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(l.life)) }()
	// A pooler gives its clients process ids of its own.
	var pid uint32
	if err := conn.QueryRow(l.life, "SELECT pg_backend_pid()", noPrepare).Scan(&pid); err != nil {
		return err
	}
	if pid != conn.PgConn().PID() {
		return errPooler
	}
	if _, err := conn.Exec(l.life, "LISTEN "+pgx.Identifier{channelPrefix + waiterID}.Sanitize()); err != nil {
		return err
	}
	ready()
	wake("")
	for {
		told, err := conn.WaitForNotification(l.life)
		if err != nil {
			return err
		}
		wake(told.Payload)
	}
}

// close ends the connection and waits for it.
func (l *listener) close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.done.Wait()
}
