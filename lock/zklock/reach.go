package zklock

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

// How long a server may take to answer who asks for a session. Sessions are granted by a
// majority, which may take long: each time no server has answered, all are given twice the time.
const (
	leastPatience = 500 * time.Millisecond
	mostPatience  = 10 * time.Second
)

// errNoSession is what a server does that has lost the majority.
var errNoSession = errors.New("it has closed the connection: it is in no majority, or does not speak ZooKeeper")

// reach is why there is no session: what became of the connections since there was one. The
// client keeps that to itself.
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

// begin forgets what was: there is a session, or none any more.
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

// tried is an error once every server has failed.
func (r *reach) tried() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failed) < len(r.servers) {
		return nil
	}
	return r.text()
}

// hopeless is an error once no server takes connections or answers on them. Servers that
// refuse sessions may be about to elect a leader.
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

// why is why there is no session, as far as that is known.
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
		causes = []string{"connections are being made"}
	}
	return fmt.Errorf("%w: no server has taken up the session (%s): "+
		"check that a majority of the ensemble runs, with lockscope doctor",
		driver.ErrUnreachable, strings.Join(causes, "; "))
}
