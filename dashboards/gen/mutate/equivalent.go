package main

// rounded is why a factor of a count does not matter.
const rounded = "only changes the number that is told, which is rounded: that there is any is the condition"

// whole is why a threshold below 1 does not matter.
const whole = "the gauge has whole numbers only"

// equivalent are mutants that no test can notice: what they are called, and why.
var equivalent = map[string]string{
	"DistributedLockDeadlock warning: 60 -> 84":       rounded,
	"DistributedLockDeadlock warning: 60 -> 36":       rounded,
	"DistributedLockLost critical: 60 -> 84":          rounded,
	"DistributedLockLost critical: 60 -> 36":          rounded,
	"DistributedLockMaxHoldReached warning: 60 -> 84": rounded,
	"DistributedLockMaxHoldReached warning: 60 -> 36": rounded,

	"DistributedLockLeaked warning: 0 -> 0.9":            whole,
	"DistributedLockOverlong warning: 0 -> 0.9":          whole,
	"DistributedLockHeldTooLong warning: 0 -> 0.9":       whole,
	"DistributedLockOrphaned warning: 0 -> 0.9":          whole,
	"DistributedLockForeignType warning: 0 -> 0.9":       whole,
	"DistributedLockScannerIncomplete warning: 0 -> 0.9": whole,
	"DistributedLockDeadlock critical: 0 -> 0.9":         whole,

	"DistributedLockWatchdog none: 1 -> 0.6": alwaysFires,
	"DistributedLockWatchdog none: 1 -> 1.4": alwaysFires,
}

// reason says why a mutant cannot be noticed, or is empty.
func reason(m mutant) string { return equivalent[m.String()] }

// alwaysFires is why the value of a watchdog does not matter.
const alwaysFires = "it fires whatever the value is, and no text has it"
