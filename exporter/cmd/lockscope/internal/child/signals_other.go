//go:build !unix

package child

import "os"

// statusInterrupted is what shells report after Ctrl-C.
const statusInterrupted = 130

// Passed are the signals that lockscope hears while a command runs.
func Passed() []os.Signal { return []os.Signal{os.Interrupt} }

// Ends reports that a signal ends a process that does not handle it.
func Ends(sig os.Signal) bool { return sig == os.Interrupt }

// nameOf is "interrupt".
func nameOf(sig os.Signal) string { return sig.String() }

// StatusOf is the exit status of a process that this signal ends.
func StatusOf(os.Signal) int { return statusInterrupted }
