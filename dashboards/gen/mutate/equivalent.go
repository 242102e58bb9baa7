package main

// whole is why a threshold below 1 does not matter.
const whole = "the gauge has whole numbers only"

// longAgo is why a threshold below 1 does not matter.
const longAgo = "the gauge is 0, or a time in seconds since 1970"

// present is why a bound does not matter: what is recorded is there only where it is one or more.
const present = "there is no series where nothing stalls, and calls are whole"

// oneReason is why it does not matter how series are put together.
const oneReason = "of a job's resource there is one series for each reason, and one reason is chosen"

// oneEach is why it does not matter how series are put together.
const oneEach = "a process has one series, for each resource if it has any"

// oneNumber is why it does not matter which series is taken.
const oneNumber = "a process has one series for each system"

// bothSame is why the bound does not matter.
const bothSame = "what it is compared with is what is recorded otherwise"

// anyFailure is why it does not matter how failures are counted.
const anyFailure = "one failure is enough, and its increase is one or more"

// ratesFollow is why it does not matter how far back the counter of losses is read.
const ratesFollow = "a minute after a loss the recorded rates have it, and their value counts"

// onlyThere is why it does not matter which value is taken.
const onlyThere = "it fires wherever there is a series, and no text has its value"

// oneForm is why it does not matter which series is taken.
const oneForm = "promtool has no native histograms, and without them each node has one series"

// counted is why it does not matter which value is taken.
const counted = "what reads it counts the series"

// wholeMinutes is why a fraction of a minute does not matter.
const wholeMinutes = "both groups are evaluated once a minute, and promtool evaluates them at the same moment"

// halves is why a bit more than one is one.
const halves = "nodes are whole, and half of their number plus one ends in 0 or 5"

// nothing is why it does not matter what a number is multiplied by, or whether it is added.
const nothing = "0 times a number is 0, and so is 0 divided by it"

// one is why it does not matter whether a number is multiplied or divided by it.
const one = "the other side only brings its label: its value is 1"

// wholeSeries is why a fraction does not matter.
const wholeSeries = "topk takes whole series"

// oneBound is why it does not matter how series are put together.
const oneBound = "of a job's resource one series has this bound"

// noMoreCommands is why it does not matter where else there is a failure rate of 0.
const noMoreCommands = "what it is divided by is there only where this is, or a failure"

// someRate is why it does not matter how rates are put together.
const someRate = "rates are 0 or more, and their sum is above 0 where one of them is"

// upOrDown is why it does not matter which value is taken.
const upOrDown = "the gauge is 0 or 1, and where one scanner has 1 the result is 1 either way"

// allLabels is why a label does not matter on the right.
const allLabels = "unless compares all labels, and those on the left have this one"

// Names of rules that leave no room beside them.
const (
	failureRate = "job_instance_backend_lock_node:distributed_lock_node_failures_per_command:ratio_rate2m : "
	nodeReached = "job_lock_node_group:distributed_lock_scanner_node_reached:max : "
)

// equivalent are mutants that no test can notice: what they are called, and why.
var equivalent = map[string]string{
	"DistributedLockAcquiresStalled critical: 0 -> 0.9": present,
	"DistributedLockAcquiresStalled critical: > -> >=":  present,
	"DistributedLockMaxHoldReached warning: sum -> max": oneReason,

	"DistributedLockInstanceStalled critical: 0 -> 0.9":       present,
	"DistributedLockInstanceStalled critical: > -> >=":        present,
	"DistributedLockInstanceStalled critical: sum -> max (2)": someRate,

	"DistributedLockLongWait warning: * -> /":   one,
	"DistributedLockLongWait warning: 1 -> 1.4": wholeSeries,

	"DistributedLockNoLeader critical: 0 -> 0.9":     whole,
	"DistributedLockNoLeader critical: 0 -> 0.9 (2)": whole,
	"DistributedLockNoLeader critical: 0 -> 0.9 (3)": whole,
	"DistributedLockTwoTerms critical: 1 -> 1.4":     whole,
	"DistributedLockSemaphoreFull warning: 0 -> 0.9": whole,
	"DistributedLockSilentKeys warning: 0 -> 0.9":    whole,
	"DistributedLockQuorumAtRisk critical: 1 -> 1.4": halves,

	"DistributedLockWriterStarved warning: 0 -> 0.9":     longAgo,
	"DistributedLockWriterStarved warning: 0 -> 0.9 (2)": whole,
	"DistributedLockWriterStarved warning: 0 -> 0.9 (3)": whole,

	"DistributedLockLeaked warning: 0 -> 0.9":            whole,
	"DistributedLockOverlong warning: 0 -> 0.9":          whole,
	"DistributedLockHeldTooLong warning: 0 -> 0.9":       whole,
	"DistributedLockOrphaned warning: 0 -> 0.9":          whole,
	"DistributedLockForeignType warning: 0 -> 0.9":       whole,
	"DistributedLockScannerIncomplete warning: 0 -> 0.9": whole,
	"DistributedLockDeadlock critical: 0 -> 0.9":         whole,

	"job_instance_resource:distributed_lock_stalled:sum : sum -> max":   oneEach,
	"job_instance_resource:distributed_lock_stalled:sum : 0 -> 0.9":     whole,
	"job_instance_resource:distributed_lock_stalled:sum : 0 -> 0.9 (2)": whole,
	"job_instance_resource:distributed_lock_stalled:sum : 1 -> 1.4":     whole,

	"job_instance_resource:distributed_lock_stalled:sum : sum -> max (2)": anyFailure,
	"job_instance_resource:distributed_lock_stalled:sum : 0 -> 0.9 (4)":   anyFailure,
	"job_instance_resource:distributed_lock_stalled:sum : max -> min":     oneNumber,
	"job_instance_resource:distributed_lock_stalled:sum : max -> min (2)": oneNumber,

	"job_resource:distributed_lock_unserved:rate5m : > -> >=":    bothSame,
	"job_resource:distributed_lock_unserved:rate5m : sum -> max": counted,

	"job_resource:distributed_lock_longest_wait:seconds : 0 -> 0.9": longAgo,

	"job_resource:distributed_lock_acquired:rate5m : without outcome=\"acquired\" (2)": allLabels,

	"job_resource:distributed_lock_slow_waits:rate5m : sum -> max": oneBound,

	"job_resource:distributed_lock_last_success:timestamp : + -> -": nothing,
	"job_resource:distributed_lock_last_success:timestamp : * -> /": nothing,
	"job:distributed_lock_exporter_seen:timestamp : + -> -":         nothing,
	"job:distributed_lock_exporter_seen:timestamp : * -> /":         nothing,
	"job:distributed_lock_exporter_seen:timestamp : count -> max":   nothing,

	"job_instance_backend_lock_node:distributed_lock_node_usable:min : sum -> max":   anyFailure,
	"job_instance_backend_lock_node:distributed_lock_node_usable:min : 0 -> 0.9 (2)": anyFailure,

	failureRate + "[2m] -> [4m] (2)":                  noMoreCommands,
	failureRate + "[2m] -> [2m24s] (2)":               noMoreCommands,
	failureRate + "without operation=\"acquire\" (2)": noMoreCommands,
	failureRate + "[5m] -> [10m] (2)":                 noMoreCommands,
	failureRate + "[5m] -> [6m] (2)":                  noMoreCommands,
	failureRate + "without operation=\"acquire\" (6)": noMoreCommands,

	"job_backend_lock_node:distributed_lock_node_duration_seconds:p99_rate5m : max -> min": oneForm,

	nodeReached + "max -> min": upOrDown,
	nodeReached + "sum -> max": someRate,

	"DistributedLockInstanceQuorumAtRisk warning: max -> min":     oneNumber,
	"DistributedLockInstanceQuorumAtRisk warning: max -> min (2)": oneNumber,
	"DistributedLockInstanceQuorumAtRisk warning: max -> min (3)": oneNumber,

	"DistributedLockScannerMemoryFails warning: sum -> max": oneEach,
	"DistributedLockScannerMemoryFails warning: 0 -> 0.9":   anyFailure,

	"DistributedLockLost critical: 0 -> 0.9 (2)":    anyFailure,
	"DistributedLockLost critical: [2m] -> [4m]":    ratesFollow,
	"DistributedLockLost critical: [2m] -> [2m24s]": ratesFollow,
	"DistributedLockLost critical: [2m] -> [1m36s]": ratesFollow,
	"DistributedLockLost critical: [2m] -> [1m]":    ratesFollow,

	"DistributedLockScannerStale warning: max -> min": onlyThere,
	"DistributedLockExporterDown warning: 120 -> 168": wholeMinutes,

	"DistributedLockWatchdog none: 1 -> 0.6": alwaysFires,
	"DistributedLockWatchdog none: 1 -> 1.4": alwaysFires,
}

// reason says why a mutant cannot be noticed, or is empty.
func reason(m mutant) string { return equivalent[m.String()] }

// alwaysFires is why the value of a watchdog does not matter.
const alwaysFires = "it fires whatever the value is, and no text has it"
