package node

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

// SlotRange is the slots from First to Last.
type SlotRange struct{ First, Last int }

// String is as CLUSTER NODES writes a range.
func (r SlotRange) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}

// SlotSet is a set of slots.
type SlotSet [hashslot.Count / 64]uint64

// AllSlots returns the set of all slots.
func AllSlots() (s SlotSet) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	return s
}

// Add adds the valid slots of a range.
func (s *SlotSet) Add(r SlotRange) {
	for slot := max(r.First, 0); slot <= min(r.Last, hashslot.Count-1); slot++ {
		s[slot/64] |= 1 << (slot % 64)
	}
}

// Has reports whether slot is in the set.
func (s *SlotSet) Has(slot int) bool {
	return slot >= 0 && slot < hashslot.Count && s[slot/64]&(1<<(slot%64)) != 0
}

// Len returns the number of slots in the set.
func (s *SlotSet) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// Union returns the slots that are in s or in t.
func (s SlotSet) Union(t SlotSet) SlotSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// Both returns the slots that are in s and in t.
func (s SlotSet) Both(t SlotSet) SlotSet {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

// Without returns the slots of s that are not in t.
func (s SlotSet) Without(t SlotSet) SlotSet {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// Ranges returns the set as few ranges, in order.
func (s *SlotSet) Ranges() (ranges []SlotRange) {
	for slot := range hashslot.Count {
		switch last := len(ranges) - 1; {
		case !s.Has(slot):
		case last >= 0 && ranges[last].Last == slot-1:
			ranges[last].Last = slot
		default:
			ranges = append(ranges, SlotRange{slot, slot})
		}
	}
	return ranges
}

// shownRanges bounds the text of a set, which may have thousands of ranges.
const shownRanges = 8

// String names the first ranges, and how many more there are.
func (s *SlotSet) String() string {
	ranges := s.Ranges()
	texts := make([]string, 0, shownRanges)
	for _, r := range ranges[:min(len(ranges), shownRanges)] {
		texts = append(texts, r.String())
	}
	text := strings.Join(texts, ", ")
	if more := len(ranges) - len(texts); more > 0 {
		text += " and " + strconv.Itoa(more) + " more ranges"
	}
	return text
}
