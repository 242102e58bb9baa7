// Package program is what is round the commands: the flags that all have, variables, the log, errors as whoever
// typed the command understands them, and the exit status. It knows no command.
package program
