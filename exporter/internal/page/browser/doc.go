// Package browser tests the page at /debug/locks in Chromium. It is a module of its
// own: what drives a browser is not for those who import the page.
package browser
