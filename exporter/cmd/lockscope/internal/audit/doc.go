// Package audit writes to disk what is about to be done to a key before it is done, and then the outcome.
package audit
