// Package revoke is the command revoke.
package revoke
