package pglock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver"
)

// channelPrefix begins the name of the channel on which function name_next notifies a waiter.
const channelPrefix = "lockscope:"

const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Second
	// heartbeat is how long the connection may be silent before the server is asked whether it is still the primary. A host
	// that is gone closes no connection, and a primary that was demoted keeps those that it has.
	heartbeat = 5 * time.Second
)

// listener has one connection, on which a waiter is notified of its turn.
type listener struct {
	config *pgx.ConnConfig
	before func(context.Context, *pgx.ConnConfig) error // the pool's BeforeConnect, for credentials that change; may be nil
	life   context.Context
	end    context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	ready  chan struct{} // closed once it listens; nil before the first subscribe
	pooler chan struct{} // closed once a pooler is detected: listening is useless then
	broken error         // why the last connection ended
}

func newListener(config *pgx.ConnConfig, before func(context.Context, *pgx.ConnConfig) error) *listener {
	config = config.Copy()
	limitConnect(config)
	life, end := context.WithCancel(context.Background())
	return &listener{config: config, before: before, life: life, end: end, pooler: make(chan struct{})}
}

// errPooler means that notifications for this connection may go to another.
var errPooler = fmt.Errorf("%w: a pooler is in front of the server, so notifications do not arrive: "+
	"set the server's own address with WithListener, or use WithoutListener", driver.ErrMisconfigured)

// subscribe returns once the connection listens, or when ctx ends. It keeps trying in the
// background. Notifications may be missed between two connections.
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
		l.mu.Lock()
		defer l.mu.Unlock()
		// It says nothing of the commands, which have connections of their own.
		return fmt.Errorf("%w: listening: %w", driver.ErrUnheard, classify(cmp.Or(l.broken, ctx.Err())))
	}
}

// listen keeps a connection until close, or until it detects a pooler.
func (l *listener) listen(waiterID string, wake func(key string), ready func()) {
	pause := firstRetry
	for l.life.Err() == nil {
		began := time.Now()
		err := l.session(waiterID, wake, ready)
		if errors.Is(err, errPooler) {
			close(l.pooler)
			return
		}
		l.mu.Lock()
		l.broken = err
		l.mu.Unlock()
		if time.Since(began) > lastRetry {
			pause = firstRetry
		}
		timer := time.NewTimer(pause/2 + rand.N(pause/2)) // so that all processes do not come back at one instant
		select {
		case <-timer.C:
		case <-l.life.Done():
			timer.Stop()
		}
		pause = min(2*pause, lastRetry)
	}
}

// session listens on one connection until it breaks.
func (l *listener) session(waiterID string, wake func(key string), ready func()) error {
	config := l.config.Copy()
	if l.before != nil {
		if err := l.before(l.life, config); err != nil {
			return err
		}
	}
	conn, err := pgx.ConnectConfig(l.life, config)
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
		ctx, cancel := context.WithTimeout(l.life, heartbeat)
		notification, err := conn.WaitForNotification(ctx)
		late := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			wake(notification.Payload)
		case !late || l.life.Err() != nil:
			return err
		default:
			if err := l.stillPrimary(conn); err != nil {
				return err
			}
		}
	}
}

// stillPrimary is an error if the server does not answer, or may not write: then another one notifies.
func (l *listener) stillPrimary(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(l.life, heartbeat)
	defer cancel()
	var readOnly bool
	err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool", noPrepare).
		Scan(&readOnly)
	if err == nil && readOnly {
		return driver.ErrReplica
	}
	return err
}

// close ends the connection and waits for it.
func (l *listener) close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.done.Wait()
}
