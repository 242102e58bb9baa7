package screen

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

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
