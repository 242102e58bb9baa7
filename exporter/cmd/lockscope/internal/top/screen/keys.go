package screen

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// maxFilter bounds what can be typed: nothing longer fits a line.
const maxFilter = 60

// press handles a key. Ctrl+c ends the program everywhere.
func (s *Screen) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case s.options.Typing:
		s.typed(key)
		return nil
	case s.options.Help:
		s.options.Help = false
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "?", "h":
		s.options.Help = true
	case "p", "space":
		return s.pause()
	case "r":
		return s.now()
	case "esc", "left", "backspace":
		s.back()
	case "enter", "right":
		s.open()
	case "s":
		s.options.Order = s.options.Order.Next()
		s.reselect()
	case "/":
		s.options.Typing, s.options.Opened = true, false
	default:
		s.move(name)
	}
	return nil
}

// pause stops the refreshes, or goes on with one at once.
func (s *Screen) pause() tea.Cmd {
	s.options.Paused = !s.options.Paused
	if s.options.Paused {
		return nil
	}
	return s.refresh()
}

// now refreshes at once, also while the screen is paused.
func (s *Screen) now() tea.Cmd {
	s.options.Paused = false
	return s.refresh()
}

// back leaves the waiters of a row, or else clears the filter.
func (s *Screen) back() {
	if s.options.Opened {
		s.options.Opened = false
	} else {
		s.options.Filter = ""
	}
	s.reselect()
}

func (s *Screen) open() {
	if s.at(s.rows()) >= 0 {
		s.options.Opened, s.options.Scroll, s.moved = true, 0, true
	}
}

// typed edits the filter, which counts while it is typed.
func (s *Screen) typed(key tea.KeyPressMsg) {
	filter := s.options.Filter
	switch key.String() {
	case "enter":
		s.options.Typing = false
	case "esc":
		filter, s.options.Typing = "", false
	case "ctrl+u":
		filter = ""
	case "backspace":
		_, last := utf8.DecodeLastRuneInString(filter)
		filter = filter[:len(filter)-last]
	default:
		if len(filter)+len(key.Text) <= maxFilter {
			filter += key.Text
		}
	}
	s.options.Filter = filter
	s.reselect()
}

// move selects another row, or scrolls the waiters of the opened one.
func (s *Screen) move(name string) {
	page := max(1, s.options.Height/2)
	steps, known := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "home": -1 << 30, "g": -1 << 30,
		"end": 1 << 30, "G": 1 << 30,
	}[name]
	switch {
	case !known:
	case s.options.Opened:
		s.options.Scroll = within(s.options.Scroll+steps, s.openedWaiters())
	default:
		if rows := s.rows(); len(rows) > 0 {
			s.options.Selected = KeyOf(rows[within(max(0, s.at(rows))+steps, len(rows))])
			s.moved = true
		}
	}
}

func (s *Screen) openedWaiters() int {
	r := s.snapshot.Find(s.options.Selected.Set, s.options.Selected.Name)
	if r == nil {
		return 0
	}
	return len(r.Waiters)
}

// within keeps an index among n elements.
func within(i, n int) int { return max(0, min(i, n-1)) }
