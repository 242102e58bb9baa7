// Package screen is what lockscope top shows.
//
// A [Snapshot] is nodes, contended resources and rates as they were at one moment, with the order of the rows and what
// is wrong. [Frame] draws it as lines of text, for a terminal or a file, and keeps no state; whatever nodes and pages
// say is written so that a terminal shows it and never obeys it (ui.Printable). A [Screen] is the interactive half:
// keys, the time between two refreshes, and which row is selected. None of them asks a server.
package screen

import (
	"context"
	"io"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
)

// Config says what a Screen shows.
type Config struct {
	Read   func(context.Context) Snapshot // returns soon; never called twice at a time
	Every  time.Duration                  // from the end of a refresh to the next
	Color  bool
	Order  Order
	Filter string
	Now    func() time.Time // nil: the time of this machine
}

// Screen implements tea.Model. It reads by itself, one refresh at a time.
type Screen struct {
	ctx      context.Context
	config   Config
	snapshot *Snapshot // nil until the first refresh has ended
	options  Options
	moved    bool // a row was chosen: until then the first one is selected
	reading  bool
	round    int // of refreshes; a tick of an earlier one is void
}

type (
	readMsg  struct{ snapshot Snapshot }
	tickMsg  struct{ round int } // it is time for a refresh
	clockMsg struct{}            // ages have grown
)

// New makes a Screen. Its refreshes end with ctx.
func New(ctx context.Context, c Config) *Screen {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Screen{ctx: ctx, config: c, options: Options{
		Every: c.Every, Color: c.Color, Order: c.Order, Filter: c.Filter, Width: 80, Height: 24,
	}}
}

// Init implements tea.Model.
func (s *Screen) Init() tea.Cmd { return tea.Batch(s.refresh(), clock()) }

func clock() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return clockMsg{} })
}

// refresh reads, unless that is under way.
func (s *Screen) refresh() tea.Cmd {
	if s.reading {
		return nil
	}
	s.reading = true
	s.round++
	return func() tea.Msg { return readMsg{s.config.Read(s.ctx)} }
}

// Update implements tea.Model.
func (s *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.options.Width, s.options.Height = msg.Width, msg.Height
	case clockMsg:
		return s, clock()
	case readMsg:
		return s, s.take(msg.snapshot)
	case tickMsg:
		if msg.round == s.round && !s.options.Paused {
			return s, s.refresh()
		}
	case tea.KeyPressMsg:
		return s, s.press(msg)
	}
	return s, nil
}

// take shows what was read, unless the screen was paused meanwhile.
func (s *Screen) take(snapshot Snapshot) tea.Cmd {
	s.reading = false
	if !s.options.Paused || s.snapshot == nil {
		s.snapshot = &snapshot
		s.reselect()
	}
	round := s.round
	return tea.Tick(s.config.Every, func(time.Time) tea.Msg { return tickMsg{round} })
}

// View implements tea.Model.
func (s *Screen) View() tea.View {
	v := tea.NewView(s.frame())
	v.AltScreen = true
	return v
}

func (s *Screen) frame() string {
	if s.options.Width < 1 || s.options.Height < 1 {
		return ""
	}
	if s.snapshot == nil {
		return Wait(s.options)
	}
	o := s.options
	o.Now = s.config.Now()
	return Frame(s.snapshot, o)
}

func (s *Screen) rows() []*fleet.Row {
	if s.snapshot == nil {
		return nil
	}
	return s.snapshot.Rows(s.options.Order, s.options.Filter)
}

// at is the index of the selected row; -1 if it is gone.
func (s *Screen) at(rows []*fleet.Row) int {
	for i, r := range rows {
		if KeyOf(r) == s.options.Selected {
			return i
		}
	}
	return -1
}

// reselect keeps a row selected: the chosen one, wherever it is now, or the first. An opened row stays, also when
// nobody waits for it any more.
func (s *Screen) reselect() {
	if s.options.Opened {
		return
	}
	rows := s.rows()
	if at := s.at(rows); len(rows) > 0 && (at < 0 || !s.moved) {
		s.options.Selected = KeyOf(rows[0])
	}
}

// Run shows the Screen in a terminal until a key or ctx ends it, and leaves the terminal as it was. The end of ctx is
// no error. environ is what the terminal is known by, such as TERM.
func (s *Screen) Run(in io.Reader, out io.Writer, environ []string) error {
	program := tea.NewProgram(s, tea.WithContext(s.ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(environ), tea.WithoutSignalHandler())
	_, err := program.Run()
	if s.ctx.Err() != nil {
		return nil
	}
	return err
}

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
