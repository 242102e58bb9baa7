// Package views serves what a process has recorded about its waits, each view at its own address below the live page.
package views

import "net/http"

// View answers GET requests for one view.
type View struct {
	Name string // last element of its path
	http.Handler
}

// of makes a view if the source supports it.
type of func(source any) (View, bool)

// Of returns the views that a source of locks supports, in the order in which a page lists them. A source supports a
// view if it has the methods of the view's interface, as live.Board does.
func Of(source any) []View {
	var all []View
	for _, view := range []of{newProfile, history, flame, newTrace} {
		if v, ok := view(source); ok {
			all = append(all, v)
		}
	}
	return all
}

// Names of views.
func Names(views []View) []string {
	names := make([]string, 0, len(views))
	for _, v := range views {
		names = append(names, v.Name)
	}
	return names
}
