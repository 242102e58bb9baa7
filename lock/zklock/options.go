package zklock

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

const (
	// DefaultRoot is the node below which each resource has one.
	DefaultRoot = "/locks"
	// DefaultMaxTTL is the longest TTL accepted, unless lock.WithMaxTTL says otherwise. The
	// session is two and a half times as long, and so is what a process that dies keeps others waiting.
	// Ensembles allow sessions of 40 s unless they are configured otherwise.
	DefaultMaxTTL = 10 * time.Second
)

// settings are the options of this package.
type settings struct {
	root string
	acl  []zk.ACL
	auth []auth
	dial zk.Dialer // nil for that of package net
}

type auth struct {
	scheme string
	secret []byte
}

func defaultSettings() settings { return settings{root: DefaultRoot, acl: zk.WorldACL(zk.PermAll)} }

// WithRoot puts the nodes of the resources below another one than [DefaultRoot]. What is
// missing of it is made. A resource "job" is the lock "/locks/job" of zk.NewLock and of
// Curator then.
func WithRoot(path string) lock.Option {
	return engine.DriverOption(func(s *settings) { s.root = path })
}

// WithACL says who may do what with the nodes that are made, instead of everybody
// everything. Others that want the lock have to create, read, write and delete.
func WithACL(acl ...zk.ACL) lock.Option {
	return engine.DriverOption(func(s *settings) { s.acl = acl })
}

// WithAuth says who this process is, as in WithAuth("digest", []byte("user:password")).
func WithAuth(scheme string, secret []byte) lock.Option {
	return engine.DriverOption(func(s *settings) { s.auth = append(s.auth, auth{scheme, slices.Clone(secret)}) })
}

// WithDialer makes connections in another way, as with TLS.
func WithDialer(dial zk.Dialer) lock.Option {
	return engine.DriverOption(func(s *settings) { s.dial = dial })
}

func (s *settings) validate() error {
	switch {
	case !strings.HasPrefix(s.root, "/") || path.Clean(s.root) != s.root || s.root == "/" ||
		strings.HasPrefix(s.root, "/zookeeper"):
		return fmt.Errorf("%w: WithRoot(%q): a path like %s is needed", lock.ErrInvalidOption, s.root, DefaultRoot)
	case len(s.acl) == 0:
		return fmt.Errorf("%w: WithACL: nobody could do anything", lock.ErrInvalidOption)
	}
	return nil
}
