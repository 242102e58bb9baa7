//go:build linux

package vitals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// read takes from /proc what the kernel knows of a process.
func read(pid int) (map[Quantity]float64, error) {
	if pid == 0 {
		return nil, errors.New("no process")
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	text, err := os.ReadFile(filepath.Join(dir, "statm"))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return nil, fmt.Errorf("%s: no resident pages in %q", dir, text)
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || pages == 0 { // a process that has exited and was not reaped
		return nil, errors.Join(err, errors.New("no memory"))
	}
	open, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return nil, err
	}
	sockets := 0
	for _, fd := range open {
		if to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			sockets++
		}
	}
	return map[Quantity]float64{
		RSS: pages * float64(os.Getpagesize()), Descriptors: float64(len(open)), Connections: float64(sockets),
	}, nil
}

// inMetrics are the quantities that a Go process exports.
var inMetrics = map[string]Quantity{"go_goroutines": Goroutines, "go_memstats_next_gc_bytes": Heap}

// scrape reads all of /metrics, as Prometheus does, and returns how much that was.
func scrape(ctx context.Context, url string, values map[Quantity]float64) (size int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", url, resp.Status)
	}
	r := bufio.NewReader(resp.Body)
	for {
		line, err := r.ReadString('\n')
		size += len(line)
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if q, ok := inMetrics[name]; ok {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				values[q] = v
			}
		}
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}
