package claims

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
)

// tries is how often a call is made again if what it works on has changed meanwhile.
const tries = 3

// tree is the nodes below the root. Names that escape never produces, since they have a semicolon, cannot be a lock's.
type tree struct {
	zk   *store.Client
	root string
	acl  []zk.ACL
}

const (
	baseName = ";fence-base"
	// slotsName begins the name of a node with a number of slots.
	slotsName = ";slots;"
)

// dir is the parent of all claims to a lock.
func (t *tree) dir(key string) string { return t.root + "/" + escape(key) }

func (t *tree) base() string { return t.root + "/" + baseName }

func (t *tree) slots(semaphore string) string { return t.root + "/" + slotsName + escape(semaphore) }

// create creates a node that stays.
func (t *tree) create(path string, data []byte) error {
	return t.zk.Create(path, data, false, t.acl)
}

// createDir creates the parent of all claims to a lock. The ensemble deletes it after it has been empty for a while.
func (t *tree) createDir(dir string) error {
	if err := t.createAbove(dir); err != nil {
		return err
	}
	if err := t.zk.Create(dir, nil, true, t.acl); !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	return nil
}

// createAbove creates the missing parents of a node.
func (t *tree) createAbove(node string) error {
	above := ""
	for _, name := range strings.Split(strings.TrimPrefix(path.Dir(node), "/"), "/") {
		above += "/" + name
		if err := t.create(above, nil); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// queue returns the names of the claims in a directory, in order.
func (t *tree) queue(dir string) ([]string, error) {
	names, err := t.zk.Children(dir)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	return queueOf(names), nil
}

// changed reports that a node is not as it was read.
func changed(err error) bool {
	return store.IsAny(err, zk.ErrNodeExists, zk.ErrNoNode, zk.ErrBadVersion)
}

func errChanging(path string) error {
	return fmt.Errorf("%w: %s keeps changing: find out who writes it", driver.ErrUnreachable, path)
}
