// Package server serves an exporter.Exporter on its own addresses, with the TLS and basic authentication of
// Prometheus' exporter-toolkit.
//
//	exp, err := exporter.New(exporter.WithGatherer(registry), exporter.WithState(board))
//	...
//	srv, err := server.New(exp)
//	...
//	err = srv.Serve(ctx, server.Web{}) // 127.0.0.1:17379, until ctx ends
//
// By default Serve listens on the loopback interface, because the pages show names of resources and keys. A web
// configuration file protects all addresses alike, including /healthz.
//
// A program that has a server needs neither this package nor the exporter-toolkit: an Exporter is an http.Handler.
package server
