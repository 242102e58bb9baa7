// Package postgres is the backend of PostgreSQL, for locks of package pglock: it reads who holds them and who waits,
// and examines whether they are safe there.
package postgres
