// Package systems is the flags that name systems beside Redis, and makes a backend of each.
package systems
