package server_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/server"
)

// Serve answers until its context ends.
func ExampleServer_Serve() {
	exp, err := exporter.New()
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(exp)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready := make(chan []string, 1)
	done := make(chan error, 1)
	go func() {
		done <- srv.Serve(ctx, server.Web{
			Addresses: []string{"127.0.0.1:0"}, // any free port
			Ready:     func(urls []string) { ready <- urls },
		})
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get((<-ready)[0] + "/readyz")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(body))
	cancel()
	fmt.Println(<-done)
	// Output:
	// ready
	// <nil>
}
