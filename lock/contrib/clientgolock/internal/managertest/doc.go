// Package managertest tests clientgolock with controller-runtime. It is a module of its own, so that users of clientgolock
// get neither controller-runtime nor what that needs.
package managertest
