// Package server serves an exporter.Exporter on addresses of its own, with the TLS
// and basic authentication of Prometheus' exporter-toolkit.
//
//	exp, err := exporter.New(exporter.WithGatherer(registry), exporter.WithState(board))
//	...
//	srv, err := server.New(exp)
//	...
//	err = srv.Serve(ctx, server.Web{}) // 127.0.0.1:17379, until ctx ends
//
// Serve listens on the loopback interface unless told otherwise, for names of
// resources and keys are shown. A web configuration file protects all addresses
// alike, /healthz included.
//
// Programs that have a server already do not need this package, nor the
// exporter-toolkit: an Exporter is an http.Handler.
package server
