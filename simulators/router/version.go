package router

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// version is a release as a number that can be compared: 71600 is 7.16, 64910 is 6.49.10.
type version int

// The releases at which something changes. Source: docs/facts/routeros.md#releases.
const (
	v7            version = 70000
	v7PlainREST   version = 70900 // REST on www, too; comments of ppp/profile
	v7ISODates    version = 71000
	v7Loopback    version = 71400
	v7MessageAuth version = 71500
	v7EmptyReply  version = 71800
	v7ServiceRows version = 71900 // one row in ip/service for each connection
)

// parseVersion reads "7.16" or "6.49.10"; each part is at most 99.
func parseVersion(text string) (version, error) {
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, fmt.Errorf("version %q is not of the form 7.16", text)
	}
	var v int
	for _, part := range append(parts, "0")[:3] {
		n, err := strconv.ParseUint(part, 10, 7)
		if err != nil || n > 99 {
			return 0, fmt.Errorf("version %q is not of the form 7.16", text)
		}
		v = v*100 + int(n)
	}
	return version(v), nil
}

// within reports whether the release is at or after since, and before until; a zero until has no end.
func (v version) within(since, until version) bool { return v >= since && (until == 0 || v < until) }

// date formats an instant as this release does: ISO dates from 7.10.
func (v version) date(at time.Time) string {
	if v >= v7ISODates {
		return at.Format("2006-01-02 15:04:05")
	}
	return strings.ToLower(at.Format("Jan")) + at.Format("/02/2006 15:04:05")
}

// span formats a duration as RouterOS does: 1w2d3h4m5s.
func span(d time.Duration) string {
	if d < time.Second {
		if ms := d.Milliseconds(); ms > 0 {
			return strconv.FormatInt(ms, 10) + "ms"
		}
		return "0s"
	}
	var out strings.Builder
	for _, u := range []struct {
		unit time.Duration
		name string
	}{
		{7 * 24 * time.Hour, "w"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"},
		{time.Millisecond, "ms"},
	} {
		if n := d / u.unit; n > 0 {
			fmt.Fprintf(&out, "%d%s", n, u.name)
			d -= n * u.unit
		}
	}
	return out.String()
}

// parseSpan reads 1w2d3h4m5s, 500ms, 00:05:00, 1d02:03:04 and a bare number of seconds; false for anything else.
func parseSpan(text string) (time.Duration, bool) {
	rest := text
	var total time.Duration
	units := []struct {
		name string
		unit time.Duration
	}{
		{"ms", time.Millisecond}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour},
		{"m", time.Minute}, {"s", time.Second},
	}
	for rest != "" {
		digits := strings.TrimLeft(rest, "0123456789")
		n, err := strconv.ParseInt(rest[:len(rest)-len(digits)], 10, 40)
		if err != nil || n > 1e9 {
			return 0, false
		}
		if digits == "" && rest == text {
			return time.Duration(n) * time.Second, true
		}
		if strings.HasPrefix(digits, ":") {
			var h, m, s int64
			if c, err := fmt.Sscanf(rest, "%d:%d:%d", &h, &m,
				&s); err != nil || c != 3 || strings.Count(rest, ":") != 2 || m > 59 || s > 59 {
				return 0, false
			}
			return total + time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second,
				true
		}
		found := false
		for _, u := range units {
			if after, ok := strings.CutPrefix(digits, u.name); ok {
				total += time.Duration(n) * u.unit
				rest, found = after, true
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return total, text != ""
}
