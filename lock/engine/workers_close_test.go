package engine

import (
	"testing"
	"testing/synctest"
)

// TestWorkersWaitForWhatIsUnderWay when they are closed.
func TestWorkersWaitForWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, answer, closed := newWorkers(), make(chan struct{}), make(chan struct{})
		w.run(func() { <-answer })
		go func() {
			w.close()
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
