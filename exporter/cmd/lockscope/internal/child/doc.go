// Package child runs a command while a lease is valid, and ends the command, with all processes of its group, before
// the lease ends.
package child
