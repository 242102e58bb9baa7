package page

import "net/http"

// Fleet serves the page of all processes, which asks for its data at its own address. Browsers get the page, everybody
// else gets what data answers: the JSON of package fleet.
func Fleet(data http.Handler) http.Handler {
	page := fleetAsset()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page.Secure(w.Header())
		w.Header().Set("Vary", "Accept")
		if formatOf(r, formatJSON) == formatHTML {
			page.Serve(w, r)
			return
		}
		data.ServeHTTP(w, r)
	})
}
