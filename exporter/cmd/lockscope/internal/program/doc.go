// Package program surrounds the commands: common flags, variables, the log, errors in the terms of the command line,
// and the exit status. It knows no command.
package program
