// Package pushgateway sends metrics of a short run to a Prometheus Pushgateway.
package pushgateway
