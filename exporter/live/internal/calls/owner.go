package calls

import (
	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/slowest"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock/decorate"
)

// Records are what calls are counted in when they end, and what lockers are called.
type Records struct {
	Waits     *waits.Waits
	Slowest   *slowest.List
	Instances names.Instances
}

// Owner is the locker whose calls and leases they are.
type Owner struct {
	Instance string
	Layer    *decorate.Layer
	Records  *Records
}
