package page

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

const (
	formatHTML   = "html"
	formatJSON   = "json"
	formatEvents = "events"
)

func formatOfType(mediaType string) string {
	switch mediaType {
	case "text/html":
		return formatHTML
	case "application/json":
		return formatJSON
	case "text/event-stream":
		return formatEvents
	}
	return ""
}

// formatOf returns the requested format, or that of who asks for none. The query outranks the header, for people who
// type addresses.
func formatOf(r *http.Request, otherwise string) string {
	if query := r.URL.Query(); query.Has("format") {
		return query.Get("format")
	}
	return accepted(r.Header.Values("Accept"), otherwise)
}

// accepted returns the format with the highest quality in the header, the first of equals. Wildcards do not count,
// because every browser and program sends them.
func accepted(headers []string, otherwise string) string {
	best, quality := otherwise, 0.0
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		format := formatOfType(kind)
		if err != nil || format == "" {
			continue
		}
		if q := qualityOf(params["q"]); q > quality {
			best, quality = format, q
		}
	}
	return best
}

func qualityOf(q string) float64 {
	if q == "" {
		return 1
	}
	quality, err := strconv.ParseFloat(q, 64)
	if err != nil {
		return 0
	}
	return quality
}
