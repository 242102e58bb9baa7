// Package serve is lockscope serve: sweeps again and again, with metrics, a page and health checks.
package serve
