// Package child runs a command while a lease is valid, and ends the command, with all
// processes of its group, before the lease ends. A watchdog, a process of its own, ends
// them when lockscope is killed or stopped.
package child
