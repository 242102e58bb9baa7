package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/redis/go-redis/v9"
)

// poolSize is that of redlock's other benchmarks; all else is as go-redis has it.
const poolSize = 32

// clients are one process' connections, one client for each node.
type clients []*redis.Client

func newClients(addrs []string) clients {
	all := make(clients, 0, len(addrs))
	for _, addr := range addrs {
		all = append(all, redis.NewClient(&redis.Options{Addr: addr, PoolSize: poolSize}))
	}
	return all
}

// Close closes all of them, whatever one says.
func (c clients) Close() error {
	var errs []error
	for _, client := range c {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// newToken is what tells one owner from another.
func newToken() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

// compareAndDelete is the unlock of those that bring none of their own.
const compareAndDelete = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
