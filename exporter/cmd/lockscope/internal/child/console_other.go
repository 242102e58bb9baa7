//go:build !unix

package child

import "os"

// These are no signals that anything here would send.
var continued, terminalStop os.Signal

// console is the terminal of this process. Without process groups the command has it already.
type console struct{ eager bool }

func openConsole(Command) *console { return nil }

func (*console) close() {}

func (*console) give(int) {}

func (*console) take() {}

func (*console) ours() bool { return false }

func (*console) has(int) bool { return false }

func (*console) wanted() bool { return false }

func (*console) stoppedUnseen(int) bool { return false }

func (*console) suspend() bool { return false }

func isOfTerminal(os.Signal) bool { return false }

func isContinue(os.Signal) bool { return false }

func wantsTerminal(os.Signal) bool { return false }
