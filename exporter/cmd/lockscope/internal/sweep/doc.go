// Package sweep makes the groups of servers that scan, serve, repair and config check work on, of flags and of a
// configuration file. Each group has a Scanner of its own.
package sweep
