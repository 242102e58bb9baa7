package keyreader

import (
	"regexp"
	"strconv"
	"time"
)

// ReadLease is one field in the hash that the readers of a read/write lock share.
type ReadLease struct {
	Token string
	Began int64 // by its holder's clock, in milliseconds
	Ends  time.Time
	// Left is the time until Ends, by the node's clock. It is Never if the key never expires, because the expiry of the
	// key tells what the node's clock is.
	Left time.Duration
}

// Over reports whether the reader's time has ended. Redis keeps the field until somebody asks for the lock.
func (r *ReadLease) Over() bool { return r.Left <= 0 && r.Left != Never }

var (
	readerToken = regexp.MustCompile(`^[0-9a-f]{32}$`)
	// readerValue is an expiry and a counter, then the holder's name and since when, in milliseconds.
	readerValue = regexp.MustCompile(`^(\d+):\d+\|[^|]*\|(\d+)\|`)
)

// ReadLeases returns the readers of a read/write lock, in the order of their tokens. It returns nil if the value is
// something else, or was not read.
func (v *Value) ReadLeases() []ReadLease {
	if len(v.Fields) == 0 {
		return nil
	}
	var last time.Time
	all := make([]ReadLease, 0, len(v.Fields))
	for _, f := range v.Fields {
		m := readerValue.FindStringSubmatch(f[1])
		if m == nil || !readerToken.MatchString(f[0]) {
			return nil
		}
		ends, _ := strconv.ParseInt(m[1], 10, 64)
		began, _ := strconv.ParseInt(m[2], 10, 64)
		r := ReadLease{Token: f[0], Began: began, Ends: time.UnixMilli(ends), Left: Never}
		if all = append(all, r); r.Ends.After(last) {
			last = r.Ends
		}
	}
	if v.TTL == Never {
		return all
	}
	for i := range all { // the key expires with its last reader
		all[i].Left = max(0, all[i].Ends.Sub(last)+v.TTL)
	}
	return all
}

// Oldest returns the reader that began first, among those whose time is not over if there are any. Without readers, its
// Token is "".
func Oldest(readers []ReadLease) (oldest ReadLease) {
	for _, r := range readers {
		switch {
		case oldest.Token == "", oldest.Over() && !r.Over():
			oldest = r
		case r.Over() == oldest.Over() && r.Began < oldest.Began:
			oldest = r
		}
	}
	return oldest
}

// Only returns the value as it would be if the reader had the key for itself.
func (v *Value) Only(r *ReadLease) *Value {
	one := &Value{Key: v.Key, TTL: r.Left, Type: v.Type, Size: 1}
	for _, f := range v.Fields {
		if f[0] == r.Token {
			one.Fields = [][2]string{f}
		}
	}
	return one
}
