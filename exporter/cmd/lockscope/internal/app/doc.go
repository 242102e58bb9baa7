// Package app is what every command is given of the outside world, and the statuses that it ends with.
package app
