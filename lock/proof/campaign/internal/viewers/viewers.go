//go:build linux

// Package viewers keeps all views of the locks open while a soak goes on, as a team on call does: streams of live
// pages and of the fleet page, the scanner with its metrics, top in a terminal, and the history of a process.
package viewers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/vitals"
)

// Seen is what the viewers were shown.
type Seen struct {
	Pages, Scanner, Fleet Stream // of live pages, of the scanner's page, and the fleet page
	History               Stream // of who blocked whom, of a process
	TopBytes              int64
}

// Stream counts what came on streams of one kind.
type Stream struct {
	Documents, Bytes int64
	Opened           int // how often, a process that was killed and a server that was slow among the reasons
}

// Viewers are open until Close.
type Viewers struct {
	redis      string
	fleet      string // its URL
	serve, top *process.Process
	terminal   *terminal
	pages      func() []string

	mu   sync.Mutex
	seen Seen
}

// streams is how many live pages are looked at all the time. The fleet page reads all of them.
const streams = 4

// Open starts lockscope serve and lockscope top on the servers. pages returns the addresses of the processes of now.
func Open(ctx context.Context, binary, dir string, redis []string, pages func() []string) (_ *Viewers, err error) {
	v := &Viewers{redis: strings.Join(redis, ","), pages: pages}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.Close())
		}
	}()
	serve := exec.Command(binary, "serve", "--redis", v.redis, "--redlock", "--allow-empty", "--pages", "127.0.0.1",
		"--interval", "30s", "--web.listen-address", "127.0.0.1:0")
	if v.serve, err = process.Start("serve", dir, serve); err != nil {
		return v, err
	}
	said, err := v.serve.Await(ctx, listening)
	if err != nil {
		return v, err
	}
	v.fleet = "http://" + said[1]
	if v.terminal, err = openTerminal(); err != nil {
		return v, err
	}
	top := exec.Command(binary, "top", "--redis", v.redis, "--pages", "127.0.0.1")
	top.Env = append(top.Environ(), "TERM=xterm-256color")
	top.Stdin, top.Stdout = v.terminal.process, v.terminal.process
	v.top, err = process.Start("top", dir, top)
	return v, err
}

var listening = regexp.MustCompile(`Listening on.*?(127\.0\.0\.1:[1-9]\d*)`)

// Targets are the processes that view.
func (v *Viewers) Targets() []vitals.Target {
	return []vitals.Target{
		{Group: "lockscope serve", Name: "serve", PID: v.serve.PID(), Metrics: v.fleet + "/metrics"},
		{Group: "lockscope top", Name: "top", PID: v.top.PID()},
	}
}

// Watch looks at everything until ctx ends.
func (v *Viewers) Watch(ctx context.Context) {
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() { v.follow(ctx, &v.seen.Pages, func() string { return v.page(i) }) })
	}
	all.Go(func() { v.follow(ctx, &v.seen.Scanner, func() string { return v.fleet + "/debug/locks" }) })
	all.Go(func() { v.poll(ctx, &v.seen.Fleet, func() string { return v.fleet + "/debug/locks/fleet" }) })
	all.Go(func() { v.poll(ctx, &v.seen.History, func() string { return v.page(0) + "/history" }) })
	all.Go(func() { v.readTerminal(ctx) })
	all.Wait()
}

// page is that of one of the processes of now; "" if it has none.
func (v *Viewers) page(i int) string {
	pages := v.pages()
	if len(pages) == 0 {
		return ""
	}
	return "http://" + pages[i*len(pages)/streams] + "/debug/locks"
}

// Seen is what was shown so far.
func (v *Viewers) Seen() Seen {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen
}

// Failed says what has ended by itself, or shown nothing.
func (v *Viewers) Failed() (all []string) {
	for name, p := range map[string]*process.Process{"lockscope serve": v.serve, "lockscope top": v.top} {
		if err := p.Err(); err != nil {
			all = append(all, fmt.Sprintf("%s: %v", name, err))
		}
	}
	seen := v.Seen()
	for name, count := range map[string]int64{
		"a live page": seen.Pages.Documents, "the page of the scanner": seen.Scanner.Documents,
		"the fleet page": seen.Fleet.Documents, "the history of a process": seen.History.Documents, "top": seen.TopBytes,
	} {
		if count == 0 {
			all = append(all, name+" has shown nothing")
		}
	}
	return all
}

// Close ends both processes.
func (v *Viewers) Close() (err error) {
	for _, p := range []*process.Process{v.top, v.serve} {
		if p != nil {
			err = errors.Join(err, p.Stop())
		}
	}
	if v.terminal != nil {
		err = errors.Join(err, v.terminal.close())
	}
	return err
}
