package watchdog

// name is the only argument of the process that is a watchdog.
const name = "lockscope-watchdog"

// Is reports that a process with these arguments is to call Main and nothing else.
func Is(args []string) bool { return len(args) == 2 && args[1] == name }
