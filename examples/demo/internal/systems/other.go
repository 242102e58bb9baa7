//go:build !linux

package systems

import (
	"context"
	"errors"
)

var errLinuxOnly = errors.New(
	"these servers are started from Debian packages, on Linux only: run the demo in a container, or with " +
		"-backend redis")

func openPostgres(context.Context, Config) (Backend, error) { return nil, errLinuxOnly }

func openZooKeeper(context.Context, Config) (Backend, error) { return nil, errLinuxOnly }
