// Package app has what every command gets from the outside world, and the exit statuses.
package app
