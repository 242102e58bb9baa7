// Package pgproc runs real PostgreSQL servers for tests and demos. They are child processes that listen on
// loopback, each with a directory of its own, which Stop removes. They end with the process that started
// them.
package pgproc
