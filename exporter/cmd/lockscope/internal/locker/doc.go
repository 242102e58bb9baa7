// Package locker takes locks on the servers that the flags of a command name, whatever system they are of.
package locker
