package child

import "time"

// DefaultKillAfter is how long a command may take to end after SIGTERM.
const DefaultKillAfter = 10 * time.Second

const (
	// glance is how often to look at the lease, at the least, and how long the watchdog sleeps at most: timers stand
	// still while the machine is suspended, and bootTime does not.
	glance = 250 * time.Millisecond
	// leftOver is how long processes that a command left behind may go on before they are asked to end, as those that
	// write the last of its output do.
	leftOver = time.Second
	// afterKill is how long to wait for what was killed and stays in the group: zombies whose parent forgets them.
	afterKill = time.Second
)

// Limits bound a command.
type Limits struct {
	TTL       time.Duration // of the lease
	MaxHold   time.Duration // after which the command is asked to end; 0: none
	KillAfter time.Duration // between SIGTERM and SIGKILL
	// KillAfterSignal bounds that time for signals that lockscope passes on, too.
	KillAfterSignal bool
}

// Margin is how long before the end of the lease a command is killed: a twentieth of the TTL.
func (l Limits) Margin() time.Duration { return l.TTL / 20 }

// Warning is how long before the end of the lease a command is asked to end: a third of the TTL and the margin, or less
// if KillAfter is shorter.
func (l Limits) Warning() time.Duration { return min(l.TTL/3, l.KillAfter) + l.Margin() }
