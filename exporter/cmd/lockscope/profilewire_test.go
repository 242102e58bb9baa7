package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// listen returns the port of the loopback interface on which the redis-server at target answers as the profile has it,
// until the test ends.
func (p profile) listen(t *testing.T, target string) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	cmdtest.Must(t, err)
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(ctx, client, target) })
		}
	})
	t.Cleanup(func() {
		end()
		cmdtest.Must(t, l.Close())
		serving.Wait()
	})
	return l.Addr().(*net.TCPAddr).Port
}

// serve passes on what both sides say until one of them or ctx ends.
func (p profile) serve(ctx context.Context, client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })()
	var asking sync.WaitGroup
	asking.Go(func() {
		_ = p.requests(bufio.NewWriter(server), bufio.NewReader(client))
		_ = server.Close()
	})
	_ = p.replies(bufio.NewWriter(client), bufio.NewReader(server))
	_ = client.Close()
	asking.Wait()
}

// refusalMark begins the argument of an ECHO that takes the place of a refused command. So the refusal comes back in
// the order of the replies, whatever else is under way.
const refusalMark = "profile-refusal:"

// requests passes commands on to the server until one side ends.
func (p profile) requests(to *bufio.Writer, from *bufio.Reader) error {
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
func (p profile) translated(words []string) []string {
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
func (p profile) replies(to *bufio.Writer, from *bufio.Reader) error {
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
func (p profile) bulk(kind byte, text string) string {
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
		return nil, fmt.Errorf("profile: %q begins no command", line)
	}
	words := make([]string, n)
	for i := range words {
		if line, err = from.ReadString('\n'); err != nil {
			return nil, err
		}
		length, ok := bulkLength(line)
		if !ok {
			return nil, fmt.Errorf("profile: %q begins no argument", line)
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
