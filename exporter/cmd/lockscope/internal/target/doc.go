// Package target turns what an operator says about Redis servers into clients.
// Everything is checked before anything is connected to, and no error holds a
// password or the text of a URL, which may hold one.
package target
