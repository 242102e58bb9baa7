package outcome

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Failure is why a node did not carry out a command.
type Failure int

// The values of the label reason of node_failures_total.
const (
	NodeTimeout Failure = iota
	NodeCanceled
	NodeRefused
	NodeDial
	NodeReadonly
	NodeNoScript
	NodeBusy
	NodeGuard
	NodeOther
	Failures // how many there are
)

var failures = [Failures]string{
	"timeout", "canceled", "refused", "dial", "readonly", "noscript", "busy", "guard", "other",
}

func (f Failure) String() string { return failures[f] }

// Sent reports whether the command took time on the node, and so has a duration. Rules and boards count as the
// commands of a node those with a duration, plus the failures that were not sent. A canceled command is neither.
func (f Failure) Sent() bool {
	return f != NodeCanceled && f != NodeRefused && f != NodeDial && f != NodeBusy && f != NodeGuard
}

// OfNode classifies the error of a command.
func OfNode(err error) Failure {
	undialed := locktrace.NodeEnd{Err: err}.Undialed()
	switch class := driver.ClassOf(err); {
	case errors.Is(err, driver.ErrUnheard):
		return NodeCanceled
	case class.Barred():
		return NodeGuard
	case class == driver.Busy && !errors.Is(err, context.Canceled):
		return NodeBusy
	case class == driver.Timeout && !undialed:
		return NodeTimeout
	case errors.Is(err, context.Canceled):
		return NodeCanceled
	case errors.Is(err, syscall.ECONNREFUSED):
		return NodeRefused
	case undialed:
		return NodeDial
	}
	switch StatusCode(err) {
	case "READONLY":
		return NodeReadonly
	case "NOSCRIPT":
		return NodeNoScript
	default:
		return NodeOther
	}
}

// StatusCode returns the first word of an error that Redis replied, and "" for other errors. Only that word is ever
// shown, because the text may quote arguments.
func StatusCode(err error) string {
	var reply interface {
		error
		RedisError()
	}
	if !errors.As(err, &reply) {
		return ""
	}
	code, _, _ := strings.Cut(reply.Error(), " ")
	for i := range len(code) {
		if code[i] < 'A' || code[i] > 'Z' || i >= 32 {
			return "ERR"
		}
	}
	return code
}

// Describe returns the text of errors that are known not to quote a command.
func Describe(err error) string {
	if code := StatusCode(err); code != "" {
		return "redis replied " + code
	}
	network, isNetwork := errors.AsType[*net.OpError](err)
	if text := driver.Describe(err); text != "" && (!isNetwork || text != driver.ErrNotSent.Error()) {
		return text
	}
	if isNetwork { // also where nothing was sent for that
		return network.Error()
	}
	return fmt.Sprintf("%s (%T)", OfNode(err), err)
}
