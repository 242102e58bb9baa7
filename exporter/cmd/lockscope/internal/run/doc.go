// Package run is the commands run and elect, which run a command under a lock.
package run
