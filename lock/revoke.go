package lock

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/internal/text"
)

// MaxByLength is the maximum length of the name in a [RevokeRequest], in bytes.
const MaxByLength = 128

// RevokeRequest says who ends somebody else's lease, and why. Its holder learns both, and so does everybody who revokes
// the lease again.
type RevokeRequest struct {
	By     string // the person or program responsible: 1 to MaxByLength bytes without control characters
	Reason string // see [ValidateReason]
	// Confirm is called with the holder before any node is marked. An error ends Revoke, which wraps it. Write down
	// there what is about to happen. It may be nil.
	Confirm func(Sighting) error
}

// Validate fails with [ErrInvalidOption] if a text is empty, too long or not printable.
func (r RevokeRequest) Validate() error {
	if err := validNote("the name", r.By, MaxByLength); err != nil {
		return err
	}
	return ValidateReason(r.Reason)
}

// ValidateReason fails with [ErrInvalidOption] unless the text has 1 to [MaxReasonLength] bytes of UTF-8, and no
// character that [ValidateResource] refuses as hidden.
func ValidateReason(text string) error { return validNote("the reason", text, MaxReasonLength) }

// validNote accepts a text that nodes store and people read.
func validNote(name, note string, limit int) error {
	switch {
	case note == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalidOption, name)
	case len(note) > limit:
		return fmt.Errorf("%w: %s has %d bytes: use %d at most", ErrInvalidOption, name, len(note), limit)
	case !text.Shows(note):
		return fmt.Errorf("%w: %s has a control character, a mark that turns the direction of text, or is not UTF-8",
			ErrInvalidOption, name)
	}
	return nil
}

// RevokeReadersRequest says whose read leases somebody ends, and why. Each of the readers learns who and why.
type RevokeReadersRequest struct {
	By, Reason string // as in [RevokeRequest]
	// Instance selects the readers of one process, as [Holder] names it; "" selects all readers.
	Instance string
	// Confirm is called with the selected readers before any node is marked, as in [RevokeRequest]. Held is false for a
	// reader that only a minority of the nodes named.
	Confirm func([]Sighting) error
}

// Validate fails with [ErrInvalidOption] as [RevokeRequest.Validate] does.
func (r RevokeReadersRequest) Validate() error {
	return RevokeRequest{By: r.By, Reason: r.Reason}.Validate()
}

// ReadersRevocation is the result of revoking readers. None of their leases can be renewed any more. Each ends by its
// reader's own timer, or at that reader's next renewal; until then it is valid.
type ReadersRevocation struct {
	Resource string
	Readers  []RevokedReader // at least one; the longest there first
	// FreeIn is when these readers keep no writer out any more, at the latest. It counts from the end of RevokeReaders.
	// Other readers may hold the resource longer, and new ones may come unless a writer waits. It assumes that no node
	// goes back to an older copy of its data.
	FreeIn time.Duration
	// Marked of Nodes refuse the leases from now on: a majority at least.
	Marked, Nodes int
}

// RevokedReader is one reader whose lease was revoked.
type RevokedReader struct {
	Sighting              // as it was before the revoke
	Mark     RevokedError // what the reader learns. It is that of an earlier revoke if there was one
	Again    bool         // the lease was revoked before
}

// Revocation is the result of revoking a lease. The holder's lease cannot be renewed any more. It ends by the
// holder's own timer, or at its next renewal; until then it is valid.
type Revocation struct {
	Sighting // the holder, as a quorum of nodes named it before they were marked

	Mark RevokedError // what the holder learns. It is that of an earlier revoke if there was one
	// Again is true if the lease was revoked before.
	Again bool
	// FreeIn is when the next caller can acquire the resource at the latest, unless somebody else did before. It counts
	// from the end of Revoke. It assumes that no node goes back to an older copy of its data.
	FreeIn time.Duration
	// Marked of Nodes refuse the lease from now on: a majority at least.
	Marked, Nodes int
}

// RevokedError is the cause of the end of a lease that somebody revoked. It matches [ErrLost].
type RevokedError struct {
	Resource string
	By       string // who revoked it
	Reason   string
	Since    time.Time // by the clock of the process that revoked it, to the millisecond
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("%v: %q was revoked by %s at %s: %s", ErrLost, e.Resource, e.By,
		e.Since.UTC().Format(time.RFC3339), e.Reason)
}

// Unwrap returns ErrLost.
func (e *RevokedError) Unwrap() error { return ErrLost }
