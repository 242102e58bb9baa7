// Package run is the command run.
package run
