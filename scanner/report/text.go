package report

import "strconv"

// slotsText writes a range as CLUSTER NODES does.
func slotsText(r SlotRange) string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}
