package store

import (
	"sync/atomic"

	"github.com/go-zookeeper/zk"
)

// Client forwards requests to the client library until it is closed. go-zookeeper 1.0.4 answers a request that arrives while
// it closes up to three times, has room for two unread answers, and would never end.
type Client struct {
	conn    *zk.Conn
	closing atomic.Bool
}

func (c *Client) mayAsk() error {
	if c.closing.Load() {
		return zk.ErrClosing
	}
	return nil
}

// Create creates a node that stays, or a container, which the ensemble deletes after it has been empty for a while.
func (c *Client) Create(path string, data []byte, container bool, acl []zk.ACL) error {
	err := c.mayAsk()
	switch {
	case err != nil:
	case container:
		_, err = c.conn.CreateContainer(path, data, zk.FlagContainer, acl)
	default:
		_, err = c.conn.Create(path, data, zk.FlagPersistent, acl)
	}
	return err
}

// Multi is a transaction.
func (c *Client) Multi(ops ...any) (answers []zk.MultiResponse, err error) {
	if err = c.mayAsk(); err == nil {
		answers, err = c.conn.Multi(ops...)
	}
	return answers, err
}

// Set replaces the data of a node that has this version.
func (c *Client) Set(path string, data []byte, version int32) (stat *zk.Stat, err error) {
	if err = c.mayAsk(); err == nil {
		stat, err = c.conn.Set(path, data, version)
	}
	return stat, err
}

// Delete deletes a node.
func (c *Client) Delete(path string) error {
	err := c.mayAsk()
	if err == nil {
		err = c.conn.Delete(path, -1)
	}
	return err
}

// Sync has the server catch up with the leader. The leader takes it for a sign of life of the session.
func (c *Client) Sync(path string) error {
	err := c.mayAsk()
	if err == nil {
		_, err = c.conn.Sync(path)
	}
	return err
}

// Get reads a node.
func (c *Client) Get(path string) (data []byte, stat *zk.Stat, err error) {
	if err = c.mayAsk(); err == nil {
		data, stat, err = c.conn.Get(path)
	}
	return data, stat, err
}

// GetW is Get with a watch.
func (c *Client) GetW(path string) (data []byte, stat *zk.Stat, events <-chan zk.Event, err error) {
	if err = c.mayAsk(); err == nil {
		data, stat, events, err = c.conn.GetW(path)
	}
	return data, stat, events, err
}

// Children returns the names of a node's children.
func (c *Client) Children(path string) (names []string, err error) {
	if err = c.mayAsk(); err == nil {
		names, _, err = c.conn.Children(path)
	}
	return names, err
}

// WatchChildren watches the children of a node, and its end.
func (c *Client) WatchChildren(path string) (events <-chan zk.Event, err error) {
	if err = c.mayAsk(); err == nil {
		_, _, events, err = c.conn.ChildrenW(path)
	}
	return events, err
}

// SessionID returns the ID of the present session.
func (c *Client) SessionID() int64 { return c.conn.SessionID() }
