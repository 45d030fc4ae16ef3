package subscribersapi

import "github.com/lastmile-isp/lastmile/events"

// location is a place in degrees, WGS 84; nil = unknown.
type location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// event is the place in the form of events.
func (l *location) event() *events.Location {
	if l == nil {
		return nil
	}
	return &events.Location{Latitude: l.Latitude, Longitude: l.Longitude}
}
