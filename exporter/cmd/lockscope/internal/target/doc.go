// Package target makes clients from the flags that name Redis servers. It checks
// everything before it connects, and no error holds a password or the text of a
// URL, which may hold one.
package target
