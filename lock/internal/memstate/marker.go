package memstate

import (
	"fmt"
	"strconv"
	"strings"
)

// Proven is marker.lua: whether the server votes for who expects this marker, and if
// not, which it has.
func (s *Instant) Proven(expected string) (marker string, ok bool) {
	switch {
	case expected == "" || s.Marker == expected:
		return s.Marker, true
	case !namesSet(expected):
		return s.Marker, false
	}
	countsFor := func(other string) bool {
		nodes, _, _ := strings.Cut(other, ":")
		return other != expected && number(nodes) > 2
	}
	fields := strings.Split(s.Marker, "|")
	switch known := len(fields) >= 4; {
	case known && fields[0] == "changing":
		left := len(fields) > 4 && strings.HasPrefix(fields[4], "left-")
		return s.Marker, left || !countsFor(fields[1]) && !countsFor(fields[len(fields)-1])
	case known && fields[0] == "quarantine" && fields[1] == expected && len(fields) > 4 &&
		strings.HasPrefix(fields[4], "change-"):
		return s.Marker, false
	case known && (fields[0] == "voting" || fields[0] == "quarantine"):
		return s.Marker, !countsFor(fields[1])
	}
	return s.Marker, true
}

// ProvenToRead is how peek.lua begins.
func (s *Instant) ProvenToRead(expected string) (marker string, ok bool) {
	if namesSet(expected) {
		return s.Marker, true
	}
	return s.Proven(expected)
}

// namesSet reports that what a caller expects is no marker, but the fingerprint of its set.
func namesSet(expected string) bool {
	return expected != "" && expected[0] >= '0' && expected[0] <= '9'
}

// OtherConfiguration is how extend.lua begins: whether the server refuses since its marker names another configuration.
func (s *Instant) OtherConfiguration(fingerprint, expected string) bool {
	_, votes := s.Proven(expected)
	fields := strings.Split(s.Marker, "|")
	return !votes && len(fields) > 2 && fields[1] != fingerprint
}

// Asked are the arguments of quarantine.lua.
type Asked struct {
	Fingerprint, RunID, DB string
	CallerMS, LengthMS     int64
	Nonce, Known           string
}

// whose is what all markers of this server and configuration have in common.
func (a Asked) whose() string { return "|" + a.Fingerprint + "|" + a.RunID + "|" + a.DB }

// AskQuarantine is quarantine.lua.
func (s *Instant) AskQuarantine(a Asked) (code int, marker string, leftMS int64) {
	whose := a.whose()
	if s.Marker == "voting"+whose {
		return 1, s.Marker, 0
	}
	fields := strings.Split(s.Marker, "|")
	known := len(fields) >= 4 && (fields[0] == "voting" || fields[0] == "quarantine" || fields[0] == "changing")
	if known && fields[1] != a.Fingerprint {
		return -1, s.Marker, 0
	}
	if known && fields[0] == "changing" {
		return 2, s.Marker, 0
	}
	write := func(identity string, length, node, caller int64) {
		s.Marker = fmt.Sprintf("quarantine%s|%s|%d|%d|%d", whose, identity, length, node, caller)
	}
	identity, length, node, caller := "", a.LengthMS, int64(0), int64(0)
	if known && len(fields) == 8 {
		identity, length, node, caller = fields[4], max(number(fields[5]), length), number(fields[6]), number(fields[7])
	}
	if identity == "" || fields[2] != a.RunID || fields[3] != a.DB {
		kind := ""
		if strings.HasPrefix(identity, "change-") {
			kind = "change-"
		}
		write(kind+a.Nonce+"."+strconv.FormatInt(s.NowUS, 10), length, 0, 0)
		return 0, s.Marker, length
	}
	now := s.ms()
	if a.Known == identity && (node == 0 || now+1 < node || a.CallerMS+1 < caller) {
		node, caller = now+1, a.CallerMS+1
		write(identity, length, node, caller)
	}
	if node == 0 {
		return 0, s.Marker, length
	}
	if a.Known == identity && now-node >= length && a.CallerMS-caller >= length {
		s.Marker = "voting" + whose
		return 1, s.Marker, 0
	}
	return 0, s.Marker, max(length-(now-node), length-(a.CallerMS-caller), 1)
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// Marked are the arguments of mark.lua.
type Marked struct {
	State, Fingerprint, RunID, DB, Nonce string
	LengthMS                             int64
	Read                                 string
	From                                 string
}

// vouchLasts is how long a vouch keeps another from beginning, in microseconds.
const vouchLasts = 60_000_000

// changeLasts is how long a change keeps another from going on where it was.
const changeLasts = 10_000_000

// Mark is mark.lua.
func (s *Instant) Mark(m Marked) (code int, marker string) {
	whose := Asked{Fingerprint: m.Fingerprint, RunID: m.RunID, DB: m.DB}.whose()
	if m.State == "changing" && (s.Marker != m.Read || s.changes(m.Nonce)) {
		return -1, s.Marker
	}
	if m.State == "quarantine" && s.Marker != "" {
		if s.Marker == "voting"+whose {
			return 1, s.Marker
		}
		rest, ours := strings.CutPrefix(s.Marker, "quarantine"+whose+"|")
		if !ours || strings.HasPrefix(rest, "change-") {
			return -1, s.Marker
		}
		identity, _, _ := strings.Cut(rest, "|")
		nonce, began, _ := strings.Cut(identity, ".")
		if strings.HasPrefix(nonce, "vouch-") && nonce != m.Nonce && s.NowUS-number(began) < vouchLasts {
			return -1, s.Marker
		}
	}
	s.Marker = fmt.Sprintf("%s%s|%s.%d|%d|0|0", m.State, whose, m.Nonce, s.NowUS, m.LengthMS)
	if m.State == "changing" {
		s.Marker += "|" + m.From
	}
	return 0, s.Marker
}

// changes reports that another change is under way, or was until a moment ago.
func (s *Instant) changes(nonce string) bool {
	fields := strings.Split(s.Marker, "|")
	if len(fields) < 8 || fields[0] != "changing" {
		return false
	}
	other, began, _ := strings.Cut(fields[4], ".")
	age := s.NowUS - number(began)
	return strings.HasPrefix(other, "change-") && other != nonce && age >= 0 && age < changeLasts
}

// Replace is replace.lua.
func (s *Instant) Replace(prefix, marker string) bool {
	if marker != "" && s.Marker == marker {
		return true
	}
	if s.Marker == "" || !strings.HasPrefix(s.Marker, prefix) {
		return false
	}
	s.Marker = marker
	return true
}
