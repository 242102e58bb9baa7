// Package pginspect reads the locks of a PostgreSQL server from outside: those of package pglock, advisory locks, and
// transactions that keep rows locked. It is for lockscope's own packages: its remedies call settings by the flags of the
// command.
package pginspect
