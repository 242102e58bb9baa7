package source

import (
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/model"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// waiterOf is a process in a queue; says is nil until it has waited for a tenth of a second.
func waiterOf(says *records.Waiting, waited time.Duration) model.Waiter {
	w := model.Waiter{Callers: 1, Waited: waited}
	if says == nil {
		return w
	}
	w.Instance, w.CallSite, w.Page, w.TraceID = says.Instance, says.CallSite, says.Page, fleet.TraceID(says.Traceparent)
	w.Callers, w.Backend = max(1, says.Callers), says.Backend
	for _, h := range says.Holds {
		name := h.Resource
		if h.Backend != "" {
			name += " (" + h.Backend + ")"
		}
		w.Holds = append(w.Holds, name)
	}
	return w
}
