//go:build linux

package ledger

import (
	"fmt"
	"net/rpc"
)

// Calls is what a ledger offers to other processes.
type Calls struct{ ledger *Ledger }

// Question names a resource, and the fencing token of who asks.
type Question struct {
	Resource string
	Fence    uint64
}

// Answer is what the ledger says.
type Answer struct {
	Accepted bool
	Version  int64
	Highest  uint64
}

// Read is Ledger.Read.
func (c *Calls) Read(q Question, a *Answer) error {
	a.Version, a.Accepted = c.ledger.Read(q.Resource, q.Fence)
	return nil
}

// Write is Ledger.Write.
func (c *Calls) Write(e Entry, a *Answer) error {
	a.Accepted = c.ledger.Write(e)
	return nil
}

// Highest is Ledger.Highest.
func (c *Calls) Highest(q Question, a *Answer) error {
	a.Highest = c.ledger.Highest(q.Resource)
	return nil
}

// Client is another process' way to the ledger. Its methods may be called concurrently.
type Client struct{ conn *rpc.Client }

// Dial connects to a Server.
func Dial(addr string) (*Client, error) {
	conn, err := rpc.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return &Client{conn}, nil
}

// Read is Ledger.Read. After an error it is not known whether the fence was seen.
func (c *Client) Read(resource string, fence uint64) (version int64, accepted bool, err error) {
	var a Answer
	err = c.conn.Call("Ledger.Read", Question{resource, fence}, &a)
	return a.Version, a.Accepted, err
}

// Write is Ledger.Write. After an error it is not known whether the write was stored.
func (c *Client) Write(e Entry) (accepted bool, err error) {
	var a Answer
	err = c.conn.Call("Ledger.Write", e, &a)
	return a.Accepted, err
}

// Highest is Ledger.Highest.
func (c *Client) Highest(resource string) (uint64, error) {
	var a Answer
	err := c.conn.Call("Ledger.Highest", Question{Resource: resource}, &a)
	return a.Highest, err
}

// Close hangs up.
func (c *Client) Close() error { return c.conn.Close() }
