package handset

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// rate is the speed of a session, in bits a second.
type rate struct {
	up, down uint64
}

// parseRate reads the first part of Mikrotik-Rate-Limit, and checks the form of the others
// (docs/facts/radius.md#rate-limit).
func parseRate(text string) (rate, error) {
	parts := strings.Fields(text)
	if len(parts) == 0 || len(parts) > 6 {
		return rate{}, fmt.Errorf("rate limit %q has no or too many parts", text)
	}
	var first rate
	for i, part := range parts {
		up, down, both := strings.Cut(part, "/")
		if !both {
			down = up
		}
		u, err := parseSpeed(up)
		d, errDown := parseSpeed(down)
		if err != nil || errDown != nil {
			return rate{}, fmt.Errorf("rate limit %q: part %q is no speed", text, part)
		}
		if i == 0 {
			first = rate{u, d}
		}
	}
	return first, nil
}

// parseSpeed reads a number with k, M or G for thousands, millions and thousands of millions.
func parseSpeed(text string) (uint64, error) {
	factor := uint64(1)
	for suffix, f := range map[string]uint64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if plain, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = plain, f
		}
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return n * factor, err
}

// meter counts the octets of a session. They grow with the speed from the instant since on.
type meter struct {
	in, out         uint64 // octets at since
	inRate, outRate uint64 // octets a second
	since           time.Time
}

// at gives the octets from and to the customer up to an instant.
func (m *meter) at(now time.Time) (in, out uint64) {
	elapsed := max(now.Sub(m.since), 0)
	whole, rest := uint64(elapsed/time.Second), uint64(elapsed%time.Second)
	grown := func(rate uint64) uint64 { return rate*whole + rate*rest/uint64(time.Second) }
	return m.in + grown(m.inRate), m.out + grown(m.outRate)
}

// turn changes the speed from an instant on, to a share of what is allowed.
func (m *meter) turn(now time.Time, r rate, load float64) {
	m.in, m.out = m.at(now)
	m.since = now
	m.inRate, m.outRate = uint64(float64(r.up)*load/8), uint64(float64(r.down)*load/8)
}
