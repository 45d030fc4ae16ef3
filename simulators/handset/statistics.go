package handset

import (
	"slices"
	"time"
)

// Statistics are the counts of a NAS since its start. Power cuts do not reset them.
type Statistics struct {
	Online     int    `json:"online"` // sessions now
	Accepted   uint64 `json:"accepted"`
	Rejected   uint64 `json:"rejected"`
	Unanswered uint64 `json:"unanswered"` // sign-ins
	Distrusted uint64 `json:"distrusted"`
	Unfit      uint64 `json:"unfit"`

	Reports           uint64 `json:"reports"` // that the server acknowledged
	ReportsUnanswered uint64 `json:"reportsUnanswered"`
	ReportsLost       uint64 `json:"reportsLost"` // by a fault, never sent

	Repeated   uint64 `json:"repeated"`   // requests sent again for want of an answer
	BadReplies uint64 `json:"badReplies"` // answers that are not genuine, which are passed over

	Changed      uint64 `json:"changed"`      // requests to change a session that were acknowledged
	Disconnected uint64 `json:"disconnected"` // requests to end one
	Refused      uint64 `json:"refused"`      // either
	Ignored      uint64 `json:"ignored"`      // not genuine, or from elsewhere than the server

	// P50 and P99 are round trips of the answered sign-ins among the last 100,000, in nanoseconds of real time.
	P50 time.Duration `json:"p50Ns"`
	P99 time.Duration `json:"p99Ns"`
}

// tally is Statistics while they are counted. Guarded by the lock of the NAS.
type tally struct {
	Statistics

	trips []time.Duration // the newest, at most maxTrips
	next  int             // place of the next one in a full list
}

// maxTrips is how many round trips are kept.
const maxTrips = 100_000

// count counts a sign-in.
func (t *tally) count(r Result) {
	switch r.Outcome {
	case Accepted:
		t.Accepted++
	case Rejected:
		t.Rejected++
	case Distrusted:
		t.Distrusted++
	case Unfit:
		t.Unfit++
	case Unanswered:
		t.Unanswered++
		return
	}
	if len(t.trips) < maxTrips {
		t.trips = append(t.trips, r.RoundTrip)
		return
	}
	t.trips[t.next] = r.RoundTrip
	t.next = (t.next + 1) % maxTrips
}

// Statistics gives the counts so far.
func (n *NAS) Statistics() Statistics {
	n.lock()
	out, trips := n.stats.Statistics, slices.Clone(n.stats.trips)
	out.Online = len(n.sessions)
	n.unlock()
	for _, x := range []*exchange{n.access, n.books} {
		out.Repeated += x.counts.repeated.Load()
		out.BadReplies += x.counts.bad.Load()
	}
	if slices.Sort(trips); len(trips) > 0 {
		out.P50, out.P99 = trips[len(trips)/2], trips[len(trips)*99/100]
	}
	return out
}
