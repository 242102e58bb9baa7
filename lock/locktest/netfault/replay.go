package netfault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// tapeLength is how many batches are kept, the latest.
const tapeLength = 64

// tape is what clients have said lately, in complete batches of commands.
type tape struct {
	mu      sync.Mutex
	batches [][]byte
}

func (t *tape) add(batch []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.batches) == tapeLength {
		t.batches = append(t.batches[:0], t.batches[1:]...)
	}
	t.batches = append(t.batches, bytes.Clone(batch))
}

func (t *tape) latest(n int) [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([][]byte(nil), t.batches[max(0, len(t.batches)-n):]...)
}

// recorder listens to one connection's client.
type recorder struct {
	spoke atomic.Int64 // when the client last did, in nanoseconds since 1970
}

// heard keeps what was read at once if it is one or more complete commands: clients that wait for replies write so.
func (r *recorder) heard(data []byte, t *tape) {
	r.spoke.Store(time.Now().UnixNano())
	if t != nil && isBatch(data) {
		t.add(data)
	}
}

// isBatch reports whether data is complete commands of the Redis protocol, arrays of bulk strings, and nothing else.
func isBatch(data []byte) bool {
	for len(data) > 0 {
		count, rest, ok := header(data, '*')
		if !ok {
			return false
		}
		for range count {
			size, after, ok := header(rest, '$')
			if !ok || len(after) < size+2 {
				return false
			}
			rest = after[size+2:]
		}
		data = rest
	}
	return true
}

// header reads a line that is a kind and a number.
func header(data []byte, kind byte) (n int, rest []byte, ok bool) {
	line, rest, found := bytes.Cut(data, []byte("\r\n"))
	if !found || len(line) < 2 || line[0] != kind {
		return 0, nil, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	return n, rest, err == nil && n >= 0
}

// Record keeps what clients say from now on, for Replay, or no longer. Only whole batches of Redis commands are kept,
// the latest 64.
func (p *Proxy) Record(on bool) {
	p.faults.set(func(f *faults) {
		switch {
		case !on:
			f.record = nil
		case f.record == nil:
			f.record = new(tape)
		}
	})
}

// Replay says to the server again what clients said last, up to n batches that Record has kept, on one new connection,
// as a network does that delivers messages twice. The replies are thrown away. It returns how many batches were said,
// when the server has closed the connection or ctx has ended.
func (p *Proxy) Replay(ctx context.Context, n int) (int, error) {
	t := p.faults.tape()
	if t == nil {
		return 0, nil
	}
	batches := t.latest(n)
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", p.target)
	if err != nil {
		return 0, fmt.Errorf("netfault: replay: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for i, batch := range batches {
		if _, err := conn.Write(batch); err != nil {
			return i, fmt.Errorf("netfault: replay: %w", err)
		}
	}
	closeWrite(conn)
	_, _ = io.Copy(io.Discard, conn) // how it ends is of no interest: the commands were said
	return len(batches), nil
}
