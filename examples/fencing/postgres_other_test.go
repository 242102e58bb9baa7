//go:build !linux

package main

import "testing"

// startPostgres needs the parent-death signal, or a test that dies leaves a server.
func startPostgres(*testing.T) (dsn string, ok bool) { return "", false }

// startMariaDB needs that signal as well.
func startMariaDB(*testing.T) (dsn string, ok bool) { return "", false }
