package diagnosis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// greetingTimeout is how long a server that hangs up is listened to.
const greetingTimeout = time.Second

// explained adds the greeting of a server that hangs up at once, such as one without a free connection. A client that
// writes first may not get to read it.
func explained(ctx context.Context, address string, err error) error {
	hungUp := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)
	if address == "" || !hungUp {
		return err
	}
	conn, dialErr := (&net.Dialer{Timeout: greetingTimeout}).DialContext(ctx, "tcp", address)
	if dialErr != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(greetingTimeout))
	line, _ := bufio.NewReader(io.LimitReader(conn, 256)).ReadString('\n')
	if said, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
		return fmt.Errorf("%s: %w", said, err)
	}
	return err
}
