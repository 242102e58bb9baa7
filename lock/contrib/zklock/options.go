package zklock

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/engine"
)

const (
	// DefaultRoot is the parent of the resources' nodes.
	DefaultRoot = "/locks"
	// DefaultMaxTTL is the longest TTL that Acquire accepts, unless lock.WithMaxTTL sets another.
	// The session lasts two and a half times as long, and that is how long others wait for a process that
	// died. Ensembles allow sessions of at most 40 s by default.
	DefaultMaxTTL = 10 * time.Second
)

// settings are the options of this package.
type settings struct {
	root    string
	acl     []zk.ACL
	connect store.Options
}

// option is an Option of this package.
type option struct {
	lock.DriverOption
	set func(*settings)
}

// settingsOf applies the options of this package among those of base to defaults.
func settingsOf(base *engine.Settings, defaults settings) (settings, error) {
	err := base.ForDriver(func(o lock.Option) bool {
		own, ok := o.(option)
		if ok {
			own.set(&defaults)
		}
		return ok
	})
	return defaults, err
}

func defaultSettings() settings { return settings{root: DefaultRoot, acl: zk.WorldACL(zk.PermAll)} }

// WithRoot sets the parent of the resources' nodes, instead of [DefaultRoot]. Missing parents are
// created. Resource "job" below root "/locks" is the lock "/locks/job" of zk.NewLock and Curator.
func WithRoot(path string) lock.Option {
	return option{set: func(s *settings) { s.root = path }}
}

// WithACL sets the ACL of the nodes that are created. By default everybody has all rights. All
// processes that take the lock need the rights to create, read, write and delete.
func WithACL(acl ...zk.ACL) lock.Option {
	return option{set: func(s *settings) { s.acl = acl }}
}

// WithAuth authenticates this process, as in WithAuth("digest", []byte("user:password")).
func WithAuth(scheme string, secret []byte) lock.Option {
	return option{set: func(s *settings) {
		s.connect.Auth = append(s.connect.Auth, store.Auth{Scheme: scheme, Secret: slices.Clone(secret)})
	}}
}

// WithDialer replaces the function that opens connections, for TLS for example.
func WithDialer(dial zk.Dialer) lock.Option {
	return option{set: func(s *settings) { s.connect.Dial = dial }}
}

func (s *settings) validate() error {
	switch {
	case !strings.HasPrefix(s.root, "/") || path.Clean(s.root) != s.root || s.root == "/" ||
		strings.HasPrefix(s.root, "/zookeeper"):
		return fmt.Errorf("%w: WithRoot(%q): not an allowed path: use one like %s", lock.ErrInvalidOption, s.root,
			DefaultRoot)
	case len(s.acl) == 0:
		return fmt.Errorf("%w: WithACL: the list is empty: grant at least one right", lock.ErrInvalidOption)
	}
	return nil
}
