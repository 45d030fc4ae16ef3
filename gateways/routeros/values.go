package routeros

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bool reads true, yes, false and no; ok is false for anything else. An absent flag counts as false with the
// caller.
func Bool(text string) (value, ok bool) {
	switch text {
	case "true", "yes":
		return true, true
	case "false", "no":
		return false, true
	}
	return false, false
}

// FormatBool writes a flag as yes or no, which all releases accept.
func FormatBool(value bool) string {
	if value {
		return "yes"
	}
	return "no"
}

// units are the units of a duration; a name stands before the names that it begins with.
var units = []struct {
	name string
	unit time.Duration
}{
	{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"ms", time.Millisecond},
	{"us", time.Microsecond}, {"ns", 1}, {"m", time.Minute}, {"s", time.Second},
}

// ParseDuration reads all forms that routers use: 1w2d3h4m5s, 500ms, 00:05:00, 1d02:03:04, a bare number of seconds.
// The words "never" and "none", and "", are not durations. Source: docs/facts/routeros.md#formats.
func ParseDuration(text string) (time.Duration, error) {
	bad := fmt.Errorf("router duration %q", text)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	var total time.Duration
	for rest := text; ; {
		if rest == "" {
			if text == "" {
				return 0, bad
			}
			return total, nil
		}
		tail := strings.TrimLeft(rest, "0123456789")
		var part time.Duration
		if strings.HasPrefix(tail, ":") {
			var ok bool
			if part, ok = clockTime(rest); !ok {
				return 0, bad
			}
			rest = ""
		} else {
			n, err := strconv.ParseInt(rest[:len(rest)-len(tail)], 10, 64)
			name, unit := unitOf(tail)
			if err != nil || unit == 0 || n > math.MaxInt64/int64(unit) {
				return 0, bad
			}
			part, rest = time.Duration(n)*unit, tail[len(name):]
		}
		if total > math.MaxInt64-part {
			return 0, bad
		}
		total += part
	}
}

// unitOf finds the unit at the beginning of a text; "" and 0 without one.
func unitOf(text string) (string, time.Duration) {
	for _, u := range units {
		if strings.HasPrefix(text, u.name) {
			return u.name, u.unit
		}
	}
	return "", 0
}

// clockTime reads 02:03:04, also with a fraction of the seconds, which is cut off.
func clockTime(text string) (time.Duration, bool) {
	text, _, _ = strings.Cut(text, ".")
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, false
	}
	var total time.Duration
	for i, limit := range []uint64{1 << 20, 59, 59} {
		n, err := strconv.ParseUint(parts[i], 10, 32)
		if err != nil || n > limit {
			return 0, false
		}
		total = total*60 + time.Duration(n)
	}
	return total * time.Second, true
}

// FormatDuration writes 1w2d3h4m5s, and 500ms below a second. A negative duration is 0s; less than a millisecond is cut
// off.
func FormatDuration(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	var out strings.Builder
	for _, u := range []struct {
		name string
		unit time.Duration
	}{
		{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
		{"ms", time.Millisecond},
	} {
		if n := d / u.unit; n > 0 {
			fmt.Fprintf(&out, "%d%s", n, u.name)
			d -= n * u.unit
		}
	}
	return out.String()
}

// dateLayouts are the forms of 7.10 and later, of earlier releases, and of build times, which capitalise the month.
var dateLayouts = []string{"2006-01-02 15:04:05", "Jan/02/2006 15:04:05", "2006-01-02", "Jan/02/2006"}

// ParseDate reads a date in the form of any release; it is in the router's own zone.
func ParseDate(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range dateLayouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil // months are read in any case
		}
	}
	return time.Time{}, fmt.Errorf("router date %q", text)
}

// Rate is a pair of speeds in bits a second, seen from the customer: upload, then download, as in the queue menus. 0 is
// unlimited.
type Rate struct{ Upload, Download int64 }

// ParseRate reads 10M/20M, 512k/1G or integers; one number stands for both directions.
func ParseRate(text string) (Rate, error) {
	up, down, two := strings.Cut(text, "/")
	if !two {
		down = up
	}
	a, okA := bits(up)
	b, okB := bits(down)
	if !okA || !okB {
		return Rate{}, fmt.Errorf("router rate %q", text)
	}
	return Rate{a, b}, nil
}

// bits reads a number with k, M or G, which are powers of 1000.
func bits(text string) (int64, bool) {
	unit := int64(1)
	if text != "" {
		switch text[len(text)-1] {
		case 'k', 'K':
			unit = 1e3
		case 'M':
			unit = 1e6
		case 'G':
			unit = 1e9
		}
	}
	if unit > 1 {
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(n) * unit, true
}

// String writes plain integers, the form in which queues are read back.
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.Upload, r.Download) }

// Version is a RouterOS release, such as 7.16 or 6.49.10.
type Version struct{ Major, Minor, Patch int }

// ParseVersion reads "7.23.7 (long-term)", "7.16 (stable)", "6.49.10", "7.20beta4"; what follows the number is ignored.
func ParseVersion(text string) (Version, error) {
	number, _, _ := strings.Cut(text, " ")
	parts := strings.SplitN(number, ".", 3)
	var v Version
	for i, to := range []*int{&v.Major, &v.Minor, &v.Patch} {
		if i >= len(parts) {
			break
		}
		digits := parts[i][:len(parts[i])-len(strings.TrimLeft(parts[i], "0123456789"))]
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || i == 0 && digits != parts[i] {
			return Version{}, fmt.Errorf("router version %q", text)
		}
		*to = int(n)
	}
	if len(parts) < 2 {
		return Version{}, fmt.Errorf("router version %q", text)
	}
	return v, nil
}

// Compare is negative when v is older than other, 0 when equal. Betas equal their release.
func (v Version) Compare(other Version) int {
	return cmp.Or(cmp.Compare(v.Major, other.Major), cmp.Compare(v.Minor, other.Minor),
		cmp.Compare(v.Patch, other.Patch))
}

// String leaves out a patch of 0: 7.16, 6.49.10.
func (v Version) String() string {
	if v.Patch == 0 {
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}
