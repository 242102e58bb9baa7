// Package systems has the flags that name systems beside Redis, and makes a backend for each.
package systems
