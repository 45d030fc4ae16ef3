package calendar

import "time"

// Hours is a part of each local day. From may be later than To: it then goes over midnight.
type Hours struct {
	From TimeOfDay `json:"from"`
	To   TimeOfDay `json:"to"`
}

// windowDays bounds the search for a window: a change to summer time can skip that of one day.
const windowDays = 4

// Window is the time from the beginning to the end of the hours in which an instant lies, or else of the next ones.
// Both are zero for hours that never come.
func (h Hours) Window(at time.Time, zone *time.Location) (from, to time.Time) {
	day := On(at, zone).AddDays(-1) // whose hours may go over midnight
	for range windowDays {
		from, to = day.At(h.From, zone), day.At(h.To, zone)
		if h.To <= h.From {
			to = day.AddDays(1).At(h.To, zone)
		}
		if from.Before(to) && at.Before(to) {
			return from, to
		}
		day = day.AddDays(1)
	}
	return time.Time{}, time.Time{}
}
