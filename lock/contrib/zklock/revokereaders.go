package zklock

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// revokeReaders lists the readers that hold the lock, and marks those that the request names. A reader that is named
// and not there has released the lock: its place never comes back. Readers of another library are not listed, since they
// look for no mark.
func (n *node) revokeReaders(ctx context.Context, dir string, req driver.RevokeRequest) (driver.RevokeReply, error) {
	names, _, err := n.link.Children(dir) // after the sync of front
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return driver.RevokeReply{}, err
	}
	var reply driver.RevokeReply
	for _, name := range holders(names) {
		if !isReader(name) {
			break
		}
		r, err := n.revokeReader(ctx, dir+"/"+name, req)
		if err != nil {
			return driver.RevokeReply{}, err
		}
		if !r.Held {
			continue
		}
		if !reply.Held || r.TTL < 0 || reply.TTL >= 0 && r.TTL > reply.TTL {
			reply.TTL = r.TTL
		}
		reply.Held, reply.Shared = true, true
		if r.Grant != "" {
			reply.Readers = append(reply.Readers, r)
		}
	}
	for _, grant := range req.Readers {
		if !slices.ContainsFunc(reply.Readers, func(r driver.RevokeReader) bool { return r.Grant == grant }) {
			reply.Readers = append(reply.Readers, driver.RevokeReader{Grant: grant, Record: req.Record})
		}
	}
	return reply, nil
}

// revokeReader describes the reader at a place, and marks it if the request names it. Held is false if it has ended
// since. A place that is renewed at this moment is read again.
func (n *node) revokeReader(ctx context.Context, path string, req driver.RevokeRequest) (driver.RevokeReader, error) {
	for range tries {
		data, stat, err := n.link.Get(path)
		if errors.Is(err, zk.ErrNoNode) {
			return driver.RevokeReader{}, nil
		} else if err != nil {
			return driver.RevokeReader{}, err
		}
		seen, err := n.revocable(&front{path: path, data: data, stat: stat})
		if err != nil {
			return driver.RevokeReader{}, err
		}
		r := driver.RevokeReader{Grant: seen.Grant, Held: true, Counter: seen.Counter, TTL: seen.TTL, Holder: seen.Holder}
		if !slices.Contains(req.Readers, r.Grant) {
			return r, nil
		}
		said := parse(data, stat.Mtime)
		if r.TTL, r.Record = said.longest(), said.mark; said.mark != "" {
			return r, nil
		}
		marked := withMark(data, stat.Mtime, req.Record)
		_, err = n.repeat(ctx, func() error { _, err := n.link.Set(path, marked, stat.Version); return err })
		switch {
		case err == nil:
			r.Record = req.Record
			return r, nil
		case !changed(err):
			return driver.RevokeReader{}, err
		}
	}
	return driver.RevokeReader{}, errChanging(path)
}
