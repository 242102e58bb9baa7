package exporter_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// An Exporter is a handler for a server that the program already has. Package server serves it on a port of its own.
func ExampleNew() {
	inMemory, err := memlock.New(memlock.NewNodes(1)) // a real program: redlock.Open
	if err != nil {
		log.Fatal(err)
	}
	defer inMemory.Close()
	board, err := live.New()
	if err != nil {
		log.Fatal(err)
	}
	shown, err := board.Wrap(inMemory)
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	locker, err := instrument.Wrap(shown, instrument.WithRegisterer(registry))
	if err != nil {
		log.Fatal(err)
	}

	exp, err := exporter.New(exporter.WithGatherer(registry), exporter.WithState(board), exporter.WithOwnServer())
	if err != nil {
		log.Fatal(err)
	}
	defer exp.Drain()

	err = lock.Do(context.Background(), locker, "order:1001", func(context.Context, lock.Lease) error {
		for line := range strings.Lines(ask(exp, "/metrics")) {
			if strings.HasPrefix(line, "distributed_lock_held{") {
				fmt.Print(line)
			}
		}
		fmt.Println("on the page:", strings.Contains(ask(exp, "/debug/locks?format=json"), `"order:1001"`))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(ask(exp, "/readyz"))
	// Output:
	// distributed_lock_held{resource="order:*"} 1
	// on the page: true
	// ready
}

// ask returns the answer that a browser or Prometheus would get.
func ask(h http.Handler, path string) string {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Body.String()
}
