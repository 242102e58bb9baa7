package screen

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
)

var start = time.Date(2026, 11, 24, 2, 14, 7, 0, time.UTC)

// scene is a Screen whose refreshes the test makes.
type scene struct {
	*testing.T
	*Screen
	snapshot Snapshot
	reads    int
}

func newScene(t *testing.T) *scene {
	s := &scene{T: t, snapshot: Snapshot{At: start, Sets: []Set{{Name: "redis", Read: start,
		Resources: []fleet.Row{
			{Set: "redis", Name: "a", Callers: 3, Longest: time.Second, Waiters: make([]fleet.Process, 50)},
			{Set: "redis", Name: "b", Callers: 2, Longest: time.Second},
			{Set: "redis", Name: "c", Callers: 1, Longest: time.Second},
		}}}}}
	s.Screen = New(t.Context(), Config{Every: time.Second, Now: func() time.Time { return start },
		Read: func(context.Context) Snapshot {
			s.reads++
			return s.snapshot
		}})
	return s
}

// runs carries out a command and hands its message in, unless it is a timer.
func (s *scene) runs(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	s.Update(cmd())
}

func (s *scene) press(keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		key := tea.KeyPressMsg{Text: k}
		if r := []rune(k); len(r) == 1 {
			key.Code = r[0]
		} else {
			key = map[string]tea.KeyPressMsg{
				"down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "enter": {Code: tea.KeyEnter},
				"esc": {Code: tea.KeyEscape}, "end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace},
				"pgdown": {Code: tea.KeyPgDown}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
			}[k]
		}
		_, cmd = s.Update(key)
	}
	return cmd
}

func (s *scene) selects(name string) {
	s.Helper()
	if s.options.Selected.Name != name {
		s.Errorf("%q is selected, want %q", s.options.Selected.Name, name)
	}
}

func (s *scene) shows(text string) {
	s.Helper()
	if frame := s.View().Content; !strings.Contains(frame, text) {
		s.Errorf("%q is not in\n%s", text, frame)
	}
}

func TestKeysMoveTheSelection(t *testing.T) {
	s := newScene(t)
	s.shows("Asking the nodes")
	s.press("enter", "down", "end") // nothing is there yet
	s.runs(s.refresh())
	s.selects("a")
	s.press("down")
	s.selects("b")
	s.press("end", "down", "j")
	s.selects("c")
	s.press("up", "k", "k", "k")
	s.selects("a")
	s.press("down", "s", "s", "s") // by name
	s.selects("b")
	s.press("/", "c")
	s.shows("filter: c_")
	s.selects("c")
	s.press("backspace", "z", "enter")
	s.shows("No lock that somebody waits for has z")
	s.press("esc")
	s.shows("> c")
}

// TestTheSelectionFollowsItsRow: a chosen row stays selected where it moves; else the first one is.
func TestTheSelectionFollowsItsRow(t *testing.T) {
	s := newScene(t)
	s.runs(s.refresh())
	reversed := Snapshot{At: start, Sets: []Set{{Name: "redis", Read: start, Resources: []fleet.Row{
		{Set: "redis", Name: "c", Callers: 9, Longest: time.Second}, {Set: "redis", Name: "b", Callers: 2},
	}}}}
	s.snapshot = reversed
	s.runs(s.refresh())
	s.selects("c")
	s.press("down")
	s.selects("b")
	s.runs(s.refresh())
	s.selects("b")
	s.snapshot.Sets = []Set{{Name: "redis", Resources: []fleet.Row{{Set: "redis", Name: "d"}}}}
	s.runs(s.refresh())
	s.selects("d")
}

func TestEnterShowsWaitersAndEscapeGoesBack(t *testing.T) {
	s := newScene(t)
	s.runs(s.refresh())
	s.press("enter")
	s.shows("waiters 1 to ")
	s.press("pgdown", "down")
	s.shows("waiters 14 to ")
	s.press("end")
	s.shows("waiters 50 to 50 of 50")
	s.snapshot.Sets = nil
	s.runs(s.refresh())
	s.shows("Nobody waits for it now")
	s.press("esc")
	s.shows("Nobody waits for a lock")
}

// TestPauseKeepsTheFrame and leaves one chain of refreshes after it.
func TestPauseKeepsTheFrame(t *testing.T) {
	s := newScene(t)
	s.runs(s.refresh())
	under := s.refresh()
	s.press("p")
	s.shows("PAUSED")
	s.snapshot.Sets = nil
	s.runs(under) // a refresh that was under way
	s.shows("> a")
	s.Update(tickMsg{s.round})
	if s.reads != 2 {
		t.Errorf("%d reads, want none while paused", s.reads-2)
	}
	s.runs(s.press("p"))
	s.shows("Nobody waits for a lock")
	if s.Update(tickMsg{s.round - 1}); s.reading {
		t.Error("an old tick began a second chain of refreshes")
	}
	if s.refresh() == nil || s.refresh() != nil {
		t.Error("two refreshes run at the same time, or none")
	}
}

func TestHelpAndQuit(t *testing.T) {
	s := newScene(t)
	s.runs(s.refresh())
	s.press("?")
	s.shows("any key: back")
	s.press("q") // any key
	s.shows("> a")
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"/", "ctrl+c"}, {"?", "ctrl+c"}, {"enter", "q"}} {
		s := newScene(t)
		s.runs(s.refresh())
		cmd := s.press(keys...)
		if cmd == nil {
			t.Errorf("%q does not quit", keys)
			continue
		}
		if _, quits := cmd().(tea.QuitMsg); !quits {
			t.Errorf("%q does not quit", keys)
		}
	}
	s.Update(tea.WindowSizeMsg{})
	if s.View().Content != "" {
		t.Error("a frame in a terminal without a size")
	}
}
