package profiles

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// refusalMark begins the argument of an ECHO that takes the place of a refused command. So the refusal comes back in
// the order of the replies, whatever else is under way.
const refusalMark = "profiles-refusal:"

// requests passes commands on to the server until one side ends.
func (p Profile) requests(to *bufio.Writer, from *bufio.Reader) error {
	for {
		words, err := readCommand(from)
		if err != nil {
			return err
		}
		if err := writeCommand(to, p.translated(words)); err != nil {
			return err
		}
		if from.Buffered() > 0 {
			continue
		}
		if err := to.Flush(); err != nil {
			return err
		}
	}
}

// translated is the command that the redis-server gets.
func (p Profile) translated(words []string) []string {
	command := strings.ToLower(words[0])
	kinds := []string{command}
	if len(words) > 1 {
		kinds = append(kinds, command+"|"+strings.ToLower(words[1]))
	}
	for _, kind := range kinds {
		if text, ok := p.refused[kind]; ok {
			return []string{"echo", refusalMark + text}
		}
		if other, ok := p.instead[kind]; ok {
			return other
		}
	}
	return words
}

// replies passes replies on to the client until one side ends. A reply is lines. That of a bulk string says how many
// bytes follow.
func (p Profile) replies(to *bufio.Writer, from *bufio.Reader) error {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		if n, ok := bulkLength(line); ok {
			text, err := readBulk(from, n)
			if err != nil {
				return err
			}
			line = p.bulk(line[0], text)
		}
		if _, err := to.WriteString(line); err != nil {
			return err
		}
		if from.Buffered() > 0 {
			continue
		}
		if err := to.Flush(); err != nil {
			return err
		}
	}
}

// bulk is a bulk string, as the client gets it. RESP3 has another kind, which begins with the kind of text.
func (p Profile) bulk(kind byte, text string) string {
	if refusal, ok := strings.CutPrefix(text, refusalMark); ok {
		return "-" + refusal + "\r\n"
	}
	if strings.HasPrefix(strings.TrimPrefix(text, "txt:"), firstSection+"\r\n") {
		text = p.info(text)
	}
	return fmt.Sprintf("%c%d\r\n%s\r\n", kind, len(text), text)
}

// readCommand reads an array of bulk strings, as all clients send.
func readCommand(from *bufio.Reader) ([]string, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "*")))
	if err != nil || n < 1 || line[0] != '*' {
		return nil, fmt.Errorf("profiles: %q begins no command", line)
	}
	words := make([]string, n)
	for i := range words {
		if line, err = from.ReadString('\n'); err != nil {
			return nil, err
		}
		length, ok := bulkLength(line)
		if !ok {
			return nil, fmt.Errorf("profiles: %q begins no argument", line)
		}
		if words[i], err = readBulk(from, length); err != nil {
			return nil, err
		}
	}
	return words, nil
}

func writeCommand(to *bufio.Writer, words []string) error {
	if _, err := fmt.Fprintf(to, "*%d\r\n", len(words)); err != nil {
		return err
	}
	for _, word := range words {
		if _, err := fmt.Fprintf(to, "$%d\r\n%s\r\n", len(word), word); err != nil {
			return err
		}
	}
	return nil
}

func bulkLength(line string) (int, bool) {
	if line[0] != '$' && line[0] != '=' {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	return n, err == nil && n >= 0
}

func readBulk(from io.Reader, n int) (string, error) {
	text := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(from, text); err != nil {
		return "", err
	}
	return string(text[:n]), nil
}
