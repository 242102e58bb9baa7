package driver

import "context"

// BlockingNode is a [Node] whose methods return their answers, at the latest when their context
// ends. Everything else is as for Node.
type BlockingNode interface {
	Name() string
	System() string
	Capabilities() Capabilities
	Warm(ctx context.Context) error
	Acquire(ctx context.Context, req AcquireRequest) (AcquireReply, error)
	Raise(ctx context.Context, req RaiseRequest) (bool, error)
	Extend(ctx context.Context, req ExtendRequest) (ExtendReply, error)
	Release(ctx context.Context, req ReleaseRequest) (ReleaseReply, error)
	Leave(ctx context.Context, req LeaveRequest) error
	Peek(ctx context.Context, req PeekRequest) (PeekReply, error)
	Revoke(ctx context.Context, req RevokeRequest) (RevokeReply, error)
	Resize(ctx context.Context, req ResizeRequest) (ResizeReply, error)
	Subscribe(ctx context.Context, waiterID string, wake func(key string)) error
	Close() error
}
