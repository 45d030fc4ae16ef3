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
	// ReportsP50 and ReportsP99 are the same of the acknowledged reports.
	ReportsP50 time.Duration `json:"reportsP50Ns"`
	ReportsP99 time.Duration `json:"reportsP99Ns"`
}

// tally is Statistics while they are counted. Guarded by the lock of the NAS.
type tally struct {
	Statistics

	trips, reportTrips trips
}

// maxTrips is how many round trips are kept.
const maxTrips = 100_000

// trips are the newest round trips, at most maxTrips.
type trips struct {
	list []time.Duration
	next int // place of the next one in a full list
}

// add keeps a round trip.
func (t *trips) add(trip time.Duration) {
	if len(t.list) < maxTrips {
		t.list = append(t.list, trip)
		return
	}
	t.list[t.next] = trip
	t.next = (t.next + 1) % maxTrips
}

// quantiles gives the 50th and the 99th percentile of round trips, which it sorts; 0 for none.
func quantiles(list []time.Duration) (p50, p99 time.Duration) {
	if slices.Sort(list); len(list) == 0 {
		return 0, 0
	}
	return list[len(list)/2], list[len(list)*99/100]
}

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
	t.trips.add(r.RoundTrip)
}

// Statistics gives the counts so far.
func (n *NAS) Statistics() Statistics {
	n.lock()
	out, signIns := n.stats.Statistics, slices.Clone(n.stats.trips.list)
	reports := slices.Clone(n.stats.reportTrips.list)
	out.Online = len(n.sessions)
	n.unlock()
	for _, x := range []*exchange{n.access, n.books} {
		out.Repeated += x.counts.repeated.Load()
		out.BadReplies += x.counts.bad.Load()
	}
	out.P50, out.P99 = quantiles(signIns)
	out.ReportsP50, out.ReportsP99 = quantiles(reports)
	return out
}

// ReportTrips gives the round trips of the acknowledged reports among the last 100,000, in real time and in no order.
func (n *NAS) ReportTrips() []time.Duration {
	n.lock()
	defer n.unlock()
	return slices.Clone(n.stats.reportTrips.list)
}
