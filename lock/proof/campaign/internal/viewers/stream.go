//go:build linux

package viewers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// reopenAfter is how long a browser waits before it opens a stream that has ended again.
const reopenAfter = 3 * time.Second

// follow keeps a stream of events open until ctx ends.
func (v *Viewers) follow(ctx context.Context, s *Stream, url func() string) {
	for ctx.Err() == nil {
		if u := url(); u != "" {
			_ = v.read(ctx, s, u+"?format=events") // it is opened again, and counted
		}
		select {
		case <-ctx.Done():
		case <-time.After(reopenAfter):
		}
	}
}

// pollEvery is how often a page without a stream asks.
const pollEvery = 2 * time.Second

func (v *Viewers) poll(ctx context.Context, s *Stream, url func() string) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = v.read(ctx, s, url()+"?format=json") // a process may be gone
		}
	}
}

func (v *Viewers) read(ctx context.Context, s *Stream, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	v.count(s, func() { s.Opened++ })
	for r := bufio.NewReader(resp.Body); ; {
		line, err := r.ReadString('\n')
		v.count(s, func() {
			s.Bytes += int64(len(line))
			if strings.HasPrefix(line, "data:") || strings.HasPrefix(line, "{") {
				s.Documents++
			}
		})
		if err != nil {
			return err
		}
	}
}

func (v *Viewers) count(_ *Stream, add func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	add()
}

// readTerminal takes what top draws.
func (v *Viewers) readTerminal(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = v.terminal.person.SetReadDeadline(time.Now()) })
	defer stop()
	for screen := make([]byte, 64<<10); ; {
		n, err := v.terminal.person.Read(screen)
		v.count(nil, func() { v.seen.TopBytes += int64(n) })
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return
		}
	}
}
