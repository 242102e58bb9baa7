// Package list is lockscope list: holders and waiters of all systems, side by side.
package list
