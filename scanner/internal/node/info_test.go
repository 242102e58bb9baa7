package node

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

const nodesText = `07c3 127.0.0.1:30004@31004,host4 slave e7d1 0 1426238317239 4 connected
67ed 127.0.0.1:30002@31002 master - 0 1426238316232 2 connected 5461-10922 16000
292f 127.0.0.1:30003@31003 master,fail - 0 1426238318243 3 connected 10923-15999
e7d1 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-99 101 [93->-67ed] [5555-<-67ed]
`

func TestView(t *testing.T) {
	v, err := parseView(nodesText)
	if err != nil {
		t.Fatal(err)
	}
	moving, nobody := v.Moving(), AllSlots().Without(v.Assigned)
	for what, pair := range map[string][2]string{
		"own": {v.Own.String(), "0-99, 101"}, "importing": {v.Importing.String(), "5555"},
		"migrating": {v.Migrating.String(), "93"},
		"moving":    {moving.String(), "93, 5555"}, "nobody's": {nobody.String(), "100, 102-5460, 16001-16383"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, pair[0], pair[1])
		}
	}
	if all := AllSlots(); all.Len() != hashslot.Count || all.String() != "0-16383" {
		t.Errorf("all: %d, %s", all.Len(), all.String())
	}
}

func TestViewThatMakesNoSense(t *testing.T) {
	for _, text := range []string{"", "x", "a b c d e f g h 1-2\n", "a b myself d e f g h x\n",
		"a b myself d e f g h 1-x\n", "a b myself d e f g h [x->-id]\n"} {
		if _, err := parseView(text); !errors.Is(err, driver.ErrBadReply) {
			t.Errorf("%q: %v", text, err)
		}
	}
	v, err := parseView("a b myself d e f g h 99999 -5\n")
	if err == nil || v.Own.Len() != 0 {
		t.Errorf("%v, %v", v.Own.String(), err)
	}
}

func TestLongSetsAreCut(t *testing.T) {
	var s SlotSet
	for slot := 0; slot < 40; slot += 2 {
		s.Add(SlotRange{slot, slot})
	}
	if want := "0, 2, 4, 6, 8, 10, 12, 14 and 12 more ranges"; s.String() != want {
		t.Errorf("%s, want %s", s.String(), want)
	}
}

func FuzzParseView(f *testing.F) {
	f.Add("07c37df 127.0.0.1:30004@31004,host hmaster myself,master - 0 1426238317239 4 connected 0-5460 " +
		"[93->-e7d1] [94-<-e7d1]\n" +
		"67ed2db 127.0.0.1:30002@31002 master - 0 1426238316232 2 connected 5461-10922\n")
	f.Add("a b myself c 0 0 0 x 9223372036854775807 -5 1-9223372036854775807\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseView(text)
		if err != nil && !errors.Is(err, driver.ErrBadReply) {
			t.Fatalf("%q: %v", text, err)
		}
		own := v.Own.Without(v.Assigned)
		if own.Len() != 0 {
			t.Fatalf("%q: the node has %v, which nobody serves", text, &own)
		}
		moving := v.Moving()
		_ = moving.String()
	})
}
