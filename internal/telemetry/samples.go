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

// since is the use between two reports. A counter that is lower than before has begun again at zero.
func (s sample) since(before sample) counts {
	used := func(now, then int64) int64 {
		if now < then {
			return now
		}
		return now - then
	}
	return counts{used(s.Down, before.Down), used(s.Up, before.Up), s.Seconds - before.Seconds}
}

// window has the newest reports of a session by their time online. What they add up to does not depend on the order in
// which they came, and a report that comes again changes nothing.
type window struct {
	cut bool // older reports are left out, so the first one is only there to be compared with
	// shift is by how much our clock has jumped since the session began, in whole seconds, as reports tell its start
	// now.
	shift   time.Duration
	brought bool // the session has another start than any report told: it was from when our clock was ahead
	list    []sample
}

// change is a correction of what was used, booked at the instant of a report.
type change struct {
	at int64 // seconds since 1970
	counts
}

// share is the use that report i adds; zero for one that does not exist.
func (w *window) share(i int) change {
	switch {
	case i >= len(w.list), i == 0 && w.cut:
		return change{}
	case i == 0:
		return change{w.list[0].at, w.list[0].counts}
	}
	return change{w.list[i].at, w.list[i].since(w.list[i-1])}
}

// add takes a report into the window and appends the corrections of what was used to a list.
func (w *window) add(s sample, to []change) []change {
	i, again := slices.BinarySearchFunc(w.list, s, func(a, b sample) int { return cmp.Compare(a.Seconds, b.Seconds) })
	if i == 0 && w.cut {
		return to
	}
	if again {
		old := w.list[i]
		s.at, s.Down, s.Up = min(s.at, old.at), max(s.Down, old.Down), max(s.Up, old.Up)
		if s == old {
			return to
		}
		to = take(take(to, w.share(i)), w.share(i+1))
		w.list[i] = s
	} else {
		to = take(to, w.share(i))
		w.list = slices.Insert(w.list, i, s)
	}
	to = give(give(to, w.share(i)), w.share(i+1))
	if len(w.list) > windowSize {
		w.list, w.cut = w.list[1:], true
	}
	return to
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

// Bits of the first byte of the form in the table.
const (
	cut     = 1
	shifted = 2 // the shift follows; the first form had none
	brought = 4
)

// encode is the form in the table.
func (w *window) encode() []byte {
	out := append(make([]byte, 0, 3+len(w.list)*16), shifted)
	if w.cut {
		out[0] |= cut
	}
	if w.brought {
		out[0] |= brought
	}
	out = binary.AppendVarint(out, int64(w.shift/time.Second))
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
	var shift int64
	n := 0
	if text[0]&shifted != 0 {
		if shift, n = binary.Varint(text[1:]); n <= 0 {
			return window{}, errSamples
		}
	}
	w := window{
		cut: text[0]&cut != 0, shift: time.Duration(shift) * time.Second, brought: text[0]&brought != 0,
		list: make([]sample, 0, windowSize+1),
	}
	for rest := text[1+n:]; len(rest) > 0; {
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
