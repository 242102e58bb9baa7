// Package progress estimates how long a sweep will go on.
package progress
