package page

import (
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strings"
)

// acceptsGzip reports whether the client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		coding, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err == nil && (coding == "gzip" || coding == "*") && qualityOf(params["q"]) > 0 {
			return true
		}
	}
	return false
}

// startGzip announces compression, and returns the writer. Streams are compressed for each client separately: a fast
// level costs half a millisecond per document.
func startGzip(w http.ResponseWriter) *gzip.Writer {
	w.Header().Set("Content-Encoding", "gzip")
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // an error says that there is no such level
	return zip
}

// compressed writes a whole body.
func compressed(w http.ResponseWriter, status int, body []byte) {
	zip := startGzip(w)
	w.WriteHeader(status)
	_, _ = zip.Write(body)
	_ = zip.Close() // an error means that the client has left
}

// encoder is the destination of a stream's events.
type encoder struct {
	io.Writer
	zip *gzip.Writer // nil: as they are
}

func newEncoder(w http.ResponseWriter, r *http.Request) encoder {
	if !acceptsGzip(r) {
		return encoder{Writer: w}
	}
	zip := startGzip(w)
	return encoder{Writer: zip, zip: zip}
}

// flush sends what was written so far.
func (e encoder) flush() error {
	if e.zip == nil {
		return nil
	}
	return e.zip.Flush()
}

// end completes the compressed data.
func (e encoder) end() {
	if e.zip != nil {
		_ = e.zip.Close()
	}
}
