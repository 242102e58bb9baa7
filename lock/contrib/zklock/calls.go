package zklock

import "github.com/go-zookeeper/zk"

// A link forwards requests to the client until the link is closed. go-zookeeper 1.0.4 answers a request that
// arrives while it closes up to three times, has room for two unread answers, and would never end.

func (l *link) mayAsk() error {
	if l.closing.Load() {
		return zk.ErrClosing
	}
	return nil
}

func (l *link) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	if err := l.mayAsk(); err != nil {
		return "", err
	}
	return l.conn.Create(path, data, flags, acl)
}

func (l *link) CreateContainer(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	if err := l.mayAsk(); err != nil {
		return "", err
	}
	return l.conn.CreateContainer(path, data, flags, acl)
}

func (l *link) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if err := l.mayAsk(); err != nil {
		return nil, err
	}
	return l.conn.Multi(ops...)
}

func (l *link) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	if err := l.mayAsk(); err != nil {
		return nil, err
	}
	return l.conn.Set(path, data, version)
}

func (l *link) Delete(path string, version int32) error {
	if err := l.mayAsk(); err != nil {
		return err
	}
	return l.conn.Delete(path, version)
}

func (l *link) Sync(path string) (string, error) {
	if err := l.mayAsk(); err != nil {
		return "", err
	}
	return l.conn.Sync(path)
}

func (l *link) Exists(path string) (bool, *zk.Stat, error) {
	if err := l.mayAsk(); err != nil {
		return false, nil, err
	}
	return l.conn.Exists(path)
}

func (l *link) Get(path string) ([]byte, *zk.Stat, error) {
	if err := l.mayAsk(); err != nil {
		return nil, nil, err
	}
	return l.conn.Get(path)
}

func (l *link) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	if err := l.mayAsk(); err != nil {
		return nil, nil, nil, err
	}
	return l.conn.GetW(path)
}

func (l *link) Children(path string) ([]string, *zk.Stat, error) {
	if err := l.mayAsk(); err != nil {
		return nil, nil, err
	}
	return l.conn.Children(path)
}

func (l *link) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	if err := l.mayAsk(); err != nil {
		return nil, nil, nil, err
	}
	return l.conn.ChildrenW(path)
}

// SessionID returns the ID of the present session.
func (l *link) SessionID() int64 { return l.conn.SessionID() }
