// Package flags gives every flag of a command an environment variable.
package flags
