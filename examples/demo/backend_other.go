//go:build !linux

package main

import (
	"context"
	"errors"
)

var errLinuxOnly = errors.New(
	"these servers are started from Debian packages, on Linux only: run the demo in a container, or with " +
		"-backend redis")

func openPostgres(context.Context, config) (backend, error) { return nil, errLinuxOnly }

func openZooKeeper(context.Context, config) (backend, error) { return nil, errLinuxOnly }
