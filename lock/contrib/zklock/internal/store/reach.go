package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Bounds of the time that a server may take to grant a session. A majority grants it, which may be slow:
// each time no server has answered, the time doubles.
const (
	leastPatience = 500 * time.Millisecond
	mostPatience  = 10 * time.Second
)

// errNoSession is the error of a server that lost its majority.
var errNoSession = errors.New("it closed the connection: it has no majority, or is not a ZooKeeper")

// reach keeps why there is no session: the errors of the connections since the last one. The client
// does not report them.
type reach struct {
	servers []string

	mu     sync.Mutex
	wait   time.Duration
	least  time.Duration
	failed map[string]error
}

func newReach(servers []string, timeout time.Duration) *reach {
	least := max(timeout, leastPatience)
	return &reach{servers: slices.Clone(servers), wait: least, least: least, failed: make(map[string]error)}
}

// begin resets the errors when a session begins or ends.
func (r *reach) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait = r.least
	clear(r.failed)
}

func (r *reach) fail(server string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[server] = err
	if errors.Is(err, driver.ErrTimeout) {
		r.wait = min(2*r.wait, mostPatience)
	}
}

func (r *reach) patience() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wait
}

// tried returns an error once every server has failed.
func (r *reach) tried() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failed) < len(r.servers) {
		return nil
	}
	return r.text()
}

// hopeless returns an error once no server takes connections or answers on them. Servers that refuse
// sessions may be electing a leader, so they do not count.
func (r *reach) hopeless() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failed) < len(r.servers) {
		return nil
	}
	for _, err := range r.failed {
		if errors.Is(err, errNoSession) {
			return nil
		}
	}
	return r.text()
}

// why returns the last known reason why there is no session.
func (r *reach) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text()
}

func (r *reach) text() error {
	var causes []string
	for _, server := range slices.Sorted(maps.Keys(r.failed)) {
		causes = append(causes, fmt.Sprintf("%s: %v", server, r.failed[server]))
	}
	if len(causes) == 0 {
		causes = []string{"connecting"}
	}
	return driver.WithRemedy(fmt.Errorf("%w: no server granted a session (%s)", driver.ErrUnreachable,
		strings.Join(causes, "; ")), `check the ensemble with "lockscope doctor"`)
}
