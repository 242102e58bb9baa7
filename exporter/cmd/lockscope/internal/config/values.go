package config

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// Duration is written as 1d12h, 90m or 250ms.
type Duration time.Duration

func (d *Duration) parse(text string) error {
	parsed, err := ui.ParseDuration(text)
	if err == nil && parsed < 0 {
		err = ui.ErrBadDuration
	}
	*d = Duration(parsed)
	return err
}

// Date is the end of a day, or a time.
type Date struct{ time.Time }

var errBadDate = errors.New("not a date: use 2026-12-31 or 2026-12-31T18:00:00Z")

func (d *Date) parse(text string) error {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		d.Time = day.AddDate(0, 0, 1)
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errBadDate
	}
	d.Time = at
	return nil
}
