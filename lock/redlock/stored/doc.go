// Package stored reads what package redlock stores on a Redis server: the values of locks, the queues of waiters and the
// marker of the server. It is for lockscope's own packages: scanner, and the commands that show locks and servers.
package stored
