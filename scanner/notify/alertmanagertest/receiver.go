package alertmanagertest

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// Notification is one alert that Alertmanager sent to the receiver.
type Notification struct {
	Status      string            `json:"status"` // firing or resolved
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// receiver takes Alertmanager's notifications.
type receiver struct {
	mu  sync.Mutex
	got []Notification
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var group struct {
		Alerts []Notification `json:"alerts"`
	}
	if err := json.NewDecoder(req.Body).Decode(&group); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, group.Alerts...)
}

func (r *receiver) all() []Notification {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}
