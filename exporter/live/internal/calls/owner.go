package calls

import (
	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock/decorate"
)

// Records count ended calls and name the lockers.
type Records struct {
	Waits     *waits.Waits
	Slowest   *timeline.Slowest
	Profile   *profile.Recorder
	Timeline  *timeline.Recorder
	Instances names.Instances
}

// Owner is the locker of calls and leases.
type Owner struct {
	Instance string
	Layer    *decorate.Layer
	Records  *Records
}
