package routerplan

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// RateLimit is a speed as the customer sees it, in kbit/s. Of a speed without a burst all but Down and Up are 0.
type RateLimit struct {
	Down, Up                   int64
	BurstDown, BurstUp         int64 // at least Down and Up
	ThresholdDown, ThresholdUp int64 // at most the burst
	Seconds                    int64
	// More says that the text has something that is not here: a priority, a speed that is guaranteed, or another length
	// of the burst for each direction, of which Seconds is the longer one.
	More bool
}

// longestBurst bounds the length of a plan's burst, in seconds.
const longestBurst = 300

// ParseRateLimit reads the rate-limit of a profile: "rx/tx burst threshold time priority guaranteed", of which the
// first part is enough. The router receives (rx) what the customer sends, so the first number is the upload. False
// where a direction is not limited, and for a text that is none. Source: docs/facts/routeros.md#ppp.
func ParseRateLimit(text string) (RateLimit, bool) {
	var out RateLimit
	parts := strings.Fields(text)
	if len(parts) == 0 || len(parts) > 6 {
		return out, false
	}
	var ok bool
	if out.Up, out.Down, ok = ratePair(parts[0]); !ok || out.Up == 0 || out.Down == 0 {
		return RateLimit{}, false
	}
	if len(parts) > 4 && parts[4] != "8" {
		out.More = true // 8 is the lowest priority, which is that of everybody
	}
	if len(parts) > 5 && strings.Trim(parts[5], "0/") != "" {
		out.More = true
	}
	if !out.burst(parts[1:min(len(parts), 4)]) {
		return RateLimit{}, false
	}
	return out, true
}

// burst reads burst, threshold and time, and reports whether they are such. A burst that is not above the speed is
// none.
func (l *RateLimit) burst(parts []string) bool {
	if len(parts) == 0 {
		return true
	}
	up, down, ok := ratePair(parts[0])
	if !ok {
		return false
	}
	thresholdUp, thresholdDown := int64(0), int64(0)
	if len(parts) > 1 {
		if thresholdUp, thresholdDown, ok = ratePair(parts[1]); !ok {
			return false
		}
	}
	first, second := time.Second, time.Second
	if len(parts) > 2 {
		if first, second, ok = timePair(parts[2]); !ok {
			return false
		}
	}
	if up <= l.Up && down <= l.Down {
		return true
	}
	l.BurstUp, l.BurstDown = max(up, l.Up), max(down, l.Down)
	l.ThresholdUp, l.ThresholdDown = min(orRate(thresholdUp, l.Up), l.BurstUp), min(orRate(thresholdDown, l.Down),
		l.BurstDown)
	l.Seconds = min(max(int64(math.Ceil(max(first, second).Seconds())), 1), longestBurst)
	l.More = l.More || first != second
	return true
}

// orRate is a threshold, or the speed where none is given.
func orRate(threshold, rate int64) int64 {
	if threshold == 0 {
		return rate
	}
	return threshold
}

// ratePair reads "rx/tx", or one rate for both.
func ratePair(text string) (rx, tx int64, ok bool) {
	first, second, both := strings.Cut(text, "/")
	if !both {
		second = first
	}
	rx, ok = kilobits(first)
	tx, fine := kilobits(second)
	return rx, tx, ok && fine
}

// timePair reads "rx/tx" of times, or one for both.
func timePair(text string) (rx, tx time.Duration, ok bool) {
	first, second, both := strings.Cut(text, "/")
	if !both {
		second = first
	}
	rx, ok = ParseDuration(first)
	tx, fine := ParseDuration(second)
	return rx, tx, ok && fine
}

// bitsForm is a rate in bit/s: k, M and G are thousands, and a part of one is possible with them.
var bitsForm = regexp.MustCompile(`^([0-9]{1,15})(\.[0-9]{1,6})?([kKmMgG]?)$`)

// fastest is the highest speed that a plan can have, in kbit/s.
const fastest = 100_000_000

// kilobits reads a rate in kbit/s; a part of one counts as one.
func kilobits(text string) (int64, bool) {
	m := bitsForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	bits, err := strconv.ParseFloat(m[1]+m[2], 64)
	if err != nil {
		return 0, false
	}
	switch strings.ToLower(m[3]) {
	case "k":
		bits *= 1e3
	case "m":
		bits *= 1e6
	case "g":
		bits *= 1e9
	}
	rate := math.Ceil(bits / 1000)
	return int64(rate), rate <= fastest
}
