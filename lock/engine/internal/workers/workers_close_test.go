package workers

import (
	"testing"
	"testing/synctest"
)

// TestWorkersWaitForWhatIsUnderWay: Close waits for calls that have begun.
func TestWorkersWaitForWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, answer, closed := New(), make(chan struct{}), make(chan struct{})
		w.Run(func() { <-answer })
		go func() {
			w.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed while a call is under way")
		default:
		}
		close(answer)
		<-closed
	})
}
