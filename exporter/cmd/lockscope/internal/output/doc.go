// Package output writes results as a table or as JSON, and durations and holders for people.
package output
