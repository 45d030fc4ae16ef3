package telemetry

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// windowSize is the number of newest reports of a session that are kept. A report that comes later than so many newer
// ones changes nothing but, if it is a stop, the end.
const windowSize = 8

// counts is traffic in bytes, as the customer sees it, and time online in seconds. Differences can be negative.
type counts struct{ Down, Up, Seconds int64 }

// plus adds two counts, up to the bound of sums.
func (c counts) plus(d counts) counts {
	return counts{added(c.Down, d.Down), added(c.Up, d.Up), added(c.Seconds, d.Seconds)}
}

// added adds two numbers, up to the bound of sums.
func added(a, b int64) int64 { return bounded(bounded(a) + bounded(b)) }

// bounded gives a number within the bound of sums.
func bounded(n int64) int64 { return min(max(n, -maxUsed), maxUsed) }

// minus subtracts d.
func (c counts) minus(d counts) counts {
	return counts{c.Down - d.Down, c.Up - d.Up, c.Seconds - d.Seconds}
}

// sample has the counters of a session as one report told them.
type sample struct {
	at int64 // seconds since 1970, by our clock
	counts
}

// window has the newest reports of a session by their time online. What they add up to does not depend on the order in
// which they came, and a report that comes again changes nothing.
type window struct {
	cut bool // older reports are left out, so the first one is only there to be compared with
	// shift is by how much our clock has jumped since the session began, in whole seconds, as reports tell its start
	// now.
	shift   time.Duration
	brought bool // the session has another start than any report told: it was from when our clock was ahead
	// behind says that the shift comes from a session time of the router that went back: later reports tell so much
	// less than the session has lasted.
	behind bool
	wide   bool  // the router sends Gigawords with its counters, so they never begin again at 2^32
	speed  int64 // the fastest speed that the session was granted, in kbit/s; 0 = not known
	list   []sample
}

// change is a correction of what was used, booked at the instant of a report.
type change struct {
	at int64 // seconds since 1970
	counts
}

// shares are the changes that the reports of a window add, one for each report.
type shares [windowSize + 1]change

// shares gives what each report adds to the one before. odd is the number of counters that are lower than before
// without evidence that they began again.
func (w *window) shares() (out shares, odd int) {
	var down, up meter
	for i, s := range w.list {
		if i == 0 {
			down, up = meter{s.Down, s.Seconds}, meter{s.Up, s.Seconds}
			if !w.cut {
				out[0] = change(s)
			}
			continue
		}
		d, downOdd := down.advance(w, s.Down, s.Seconds)
		u, upOdd := up.advance(w, s.Up, s.Seconds)
		out[i] = change{s.at, counts{d, u, s.Seconds - w.list[i-1].Seconds}}
		odd += downOdd + upOdd
	}
	return out, odd
}

// add takes a report into the window and appends the corrections of what was used to a list. odd is the number of
// counters of the report that were left out.
func (w *window) add(s sample, to []change) (_ []change, odd int) {
	i, again := slices.BinarySearchFunc(w.list, s, func(a, b sample) int { return cmp.Compare(a.Seconds, b.Seconds) })
	if i == 0 && w.cut {
		return to, 0
	}
	before, oddBefore := w.shares()
	count := len(w.list)
	if again {
		old := w.list[i]
		s.at, s.Down, s.Up = min(s.at, old.at), max(s.Down, old.Down), max(s.Up, old.Up)
		if s == old {
			return to, 0
		}
		w.list[i] = s
	} else {
		w.list = slices.Insert(w.list, i, s)
		copy(before[i+1:], before[i:count])
		before[i] = change{}
	}
	after, odd := w.shares()
	for n := range w.list {
		if before[n] != after[n] {
			to = take(to, before[n])
		}
	}
	for n := range w.list {
		if before[n] != after[n] {
			to = give(to, after[n])
		}
	}
	w.trim()
	return to, max(0, odd-oddBefore)
}

// trim leaves the oldest report out of a full window. The next one stands for both: it has the highest counters.
func (w *window) trim() {
	if len(w.list) <= windowSize {
		return
	}
	first, next := w.list[0], w.list[1]
	down, up := meter{first.Down, first.Seconds}, meter{first.Up, first.Seconds}
	down.advance(w, next.Down, next.Seconds)
	up.advance(w, next.Up, next.Seconds)
	w.list, w.cut = w.list[1:], true
	w.list[0].Down, w.list[0].Up = down.octets, up.octets
}

// give appends a change that says something.
func give(to []change, c change) []change {
	if c.counts == (counts{}) {
		return to
	}
	return append(to, c)
}

// take appends the opposite of a change.
func take(to []change, c change) []change { return give(to, change{c.at, counts{}.minus(c.counts)}) }

// last is the report with the longest time online; zero for an empty window.
func (w *window) last() sample {
	if len(w.list) == 0 {
		return sample{}
	}
	return w.list[len(w.list)-1]
}

// Bits of the first byte of the form in the table, in the order in which encode sets them.
const (
	cut     = 1
	shifted = 2 // the shift follows; the first form had none
	brought = 4
	behind  = 8
	wide    = 16
	limited = 32 // the speed follows
)

// encode is the form in the table.
func (w *window) encode() []byte {
	out := append(make([]byte, 0, 6+len(w.list)*16), shifted)
	for bit, set := range [...]bool{w.cut, false, w.brought, w.behind, w.wide, w.speed > 0} {
		if set {
			out[0] |= 1 << bit
		}
	}
	out = binary.AppendVarint(out, int64(w.shift/time.Second))
	if w.speed > 0 {
		out = binary.AppendVarint(out, w.speed)
	}
	for _, s := range w.list {
		for _, v := range [...]int64{s.at, s.Seconds, s.Down, s.Up} {
			out = binary.AppendVarint(out, v)
		}
	}
	return out
}

// errSamples reports a column that encode did not write.
var errSamples = errors.New("samples of a session are damaged")

// decodeWindow reads what encode wrote.
func decodeWindow(text []byte) (window, error) {
	if len(text) == 0 {
		return window{}, errSamples
	}
	w := window{
		cut: text[0]&cut != 0, brought: text[0]&brought != 0, behind: text[0]&behind != 0, wide: text[0]&wide != 0,
		list: make([]sample, 0, windowSize+1),
	}
	rest, n := text[1:], 0
	if text[0]&shifted != 0 {
		var shift int64
		if shift, n = binary.Varint(rest); n <= 0 {
			return window{}, errSamples
		}
		w.shift, rest = time.Duration(shift)*time.Second, rest[n:]
	}
	if text[0]&limited != 0 {
		if w.speed, n = binary.Varint(rest); n <= 0 {
			return window{}, errSamples
		}
		rest = rest[n:]
	}
	for len(rest) > 0 {
		var v [4]int64
		for i := range v {
			if v[i], n = binary.Varint(rest); n <= 0 {
				return window{}, errSamples
			}
			rest = rest[n:]
		}
		w.list = append(w.list, sample{v[0], counts{Seconds: v[1], Down: v[2], Up: v[3]}})
	}
	return w, nil
}
