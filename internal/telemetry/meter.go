package telemetry

// Counters of 32 bits begin again at 2^32 where the router sends no Gigawords.
const (
	turnAt   = int64(1) << 32
	turnHalf = turnAt / 2
	// fastestLine bounds what such a counter can have counted in a second, in octets, where the speed is not known: a
	// faster router sends Gigawords.
	fastestLine = 125_000_000
	// speedSlack is how many times the granted speed a line may have carried, as in a burst.
	speedSlack = 4
)

// meter follows one counter of a session through reports in their order (docs/rules/access-usage.md#lower-counters).
// It stands at the highest value, so a counter that falls and rises again counts nothing twice.
type meter struct {
	octets  int64 // the highest value since the counter began
	seconds int64 // the time online at which it was told
}

// advance takes the next value and gives what it adds. odd is 1 for a lower value that is not explained: it adds
// nothing. A counter begins again with another session, which has a window of its own.
func (m *meter) advance(w *window, octets, seconds int64) (used int64, odd int) {
	switch {
	case octets >= m.octets:
		used = octets - m.octets
	case octets == 0: // a report without counters
		return 0, 0
	case m.turned(w, octets, seconds):
		used = octets + turnAt - m.octets
	default:
		return 0, 1
	}
	m.octets, m.seconds = octets, seconds
	return used, 0
}

// turned reports whether a lower value comes from a counter of 32 bits that was full: the way forward over 2^32 is the
// shorter one, and the line can have carried as much in that time.
func (m *meter) turned(w *window, octets, seconds int64) bool {
	forward := octets + turnAt - m.octets
	if w.wide || m.octets >= turnAt || forward >= turnHalf {
		return false
	}
	second := int64(fastestLine)
	if w.speed > 0 {
		second = min(second, w.speed*1000/8*speedSlack)
	}
	return forward/(seconds-m.seconds+1) <= second
}
