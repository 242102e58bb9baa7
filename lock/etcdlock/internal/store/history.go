package store

import (
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// History is what the answers of a cluster have shown of its past. An answer of a majority has no lower revision than any
// that was known at its request. If it has, the cluster was restored from a snapshot, and has forgotten locks.
type History struct {
	mu       sync.Mutex
	revision int64  // highest of any answer
	term     uint64 // highest of any answer
	rewinds  int
	reported int
}

// known returns the highest revision and term in any answer so far.
func (h *History) known() (revision int64, term uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision, h.term
}

// Rewinds is how often the cluster's history has gone back.
func (h *History) Rewinds() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rewinds
}

// ReportRewind returns true once after the cluster's history went back.
func (h *History) ReportRewind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	due := h.rewinds > h.reported
	h.reported = h.rewinds
	return due
}

// note records a majority's answer. known is the revision that was known at the request.
func (h *History) note(header *etcdserverpb.ResponseHeader, known int64) (rewound bool) {
	h.noteTerm(header.RaftTerm)
	h.mu.Lock()
	defer h.mu.Unlock()
	if header.Revision >= known {
		h.revision = max(h.revision, header.Revision)
		return false
	}
	h.revision = header.Revision
	h.rewinds++
	return true
}

// noteTerm records the term of an answer: entries of that term were applied, so no former leader can commit anything any
// more.
func (h *History) noteTerm(term uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.term = max(h.term, term)
}
