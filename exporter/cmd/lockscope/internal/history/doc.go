// Package history is the command history: who blocked whom in a span of the last hour, over all processes.
package history
