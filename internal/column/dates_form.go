package column

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// dateForm is a date as it is written, before the order of day and month is known.
type dateForm struct {
	written       string // the date alone
	year          int
	first, second int  // month and day, unless they are swappable
	swappable     bool // first and second are day and month in the order of the column
	timed         bool
	clock         time.Duration  // since midnight
	zone          *time.Location // nil = the cell names none
}

// The forms of a date at the beginning of a cell. Both separators of numbers are the same, which readDateForm checks.
var (
	numberDate  = regexp.MustCompile(`^(\d{1,4})([-/.])(\d{1,2})([-/.])(\d{1,4})`)
	dayAndName  = regexp.MustCompile(`(?i)^(\d{1,2})(?:st|nd|rd|th)?[-/., ]{0,2}([a-z]{3,9})[-/., ]{0,2}(\d{1,4})`)
	nameAndDay  = regexp.MustCompile(`(?i)^([a-z]{3,9})[-/. ]{0,2}(\d{1,2})(?:st|nd|rd|th)?[-/., ]{1,2}(\d{1,4})`)
	yearAndName = regexp.MustCompile(`(?i)^(\d{4})[-/. ]([a-z]{3,9})[-/. ](\d{1,2})`)
	weekday     = regexp.MustCompile(`(?i)^(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?[., ]{1,2}`)
	timeOfDay   = regexp.MustCompile(`(?i)^(?:t|,? )(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?` +
		`(?: ?(am|pm|a\.m\.|p\.m\.))?(?: ?(z|utc|gmt|eat|[-+]\d{2}:?\d{2}))?$`)
)

// readDateForm reads a cell as far as it can be without the column. Fails: ErrNoDate, ErrShortYear.
func readDateForm(text string) (f dateForm, err error) {
	if len(text) > MaxLength {
		return f, ErrNoDate
	}
	text = Clean(text)
	text = text[len(weekday.FindString(text)):]
	f, year, ok := numbersForm(text)
	if !ok {
		f, year, ok = namedForm(text)
	}
	switch {
	case !ok:
		return f, ErrNoDate
	case len(year) <= 2:
		return f, ErrShortYear
	case len(year) != 4:
		return f, ErrNoDate
	}
	f.year = parseDigits(year)
	return f, f.readTime(text[len(f.written):])
}

// numbersForm reads a date of three numbers. year is as it is written.
func numbersForm(text string) (f dateForm, year string, ok bool) {
	m := numberDate.FindStringSubmatch(text)
	if m == nil || m[2] != m[4] || len(m[1]) == 3 {
		return f, "", false
	}
	f.written = m[0]
	if len(m[1]) == 4 {
		f.first, f.second = parseDigits(m[3]), parseDigits(m[5])
		return f, m[1], len(m[5]) <= 2
	}
	f.first, f.second, f.swappable = parseDigits(m[1]), parseDigits(m[3]), true
	return f, m[5], true
}

// namedForm reads a date with the English name of its month, or the first three letters of it.
func namedForm(text string) (f dateForm, year string, ok bool) {
	name, day := "", ""
	if m := yearAndName.FindStringSubmatch(text); m != nil {
		f.written, year, name, day = m[0], m[1], m[2], m[3]
	} else if m := dayAndName.FindStringSubmatch(text); m != nil {
		f.written, day, name, year = m[0], m[1], m[2], m[3]
	} else if m := nameAndDay.FindStringSubmatch(text); m != nil {
		f.written, name, day, year = m[0], m[1], m[2], m[3]
	}
	f.first, f.second = monthNamed(name), parseDigits(day)
	return f, year, f.first != 0
}

// monthNamed finds a month by its name, three letters of it, or "sept"; 0 for another word.
func monthNamed(name string) int {
	for m := time.January; m <= time.December; m++ {
		long := m.String()
		if strings.EqualFold(name, long) || strings.EqualFold(name, long[:3]) ||
			m == time.September && strings.EqualFold(name, "sept") {
			return int(m)
		}
	}
	return 0
}

// readTime reads what follows the date. Fails: ErrNoDate.
func (f *dateForm) readTime(text string) error {
	if text == "" {
		return nil
	}
	m := timeOfDay.FindStringSubmatch(text)
	if m == nil {
		return ErrNoDate
	}
	hour, minute, second := parseDigits(m[1]), parseDigits(m[2]), parseDigits(m[3])
	if half := strings.ToLower(m[5]); half != "" {
		if hour < 1 || hour > 12 {
			return ErrNoDate
		}
		hour %= 12
		if half[0] == 'p' {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return ErrNoDate
	}
	nanos := parseDigits((m[4] + "000000000")[:9])
	f.timed, f.clock = true, time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute+
		time.Duration(second)*time.Second+time.Duration(nanos)
	var ok bool
	if f.zone, ok = zoneNamed(strings.ToUpper(m[6])); !ok {
		return ErrNoDate
	}
	return nil
}

// zoneNamed gives the zone behind a time, in capitals; nil for "".
func zoneNamed(name string) (zone *time.Location, ok bool) {
	switch name {
	case "":
		return nil, true
	case "Z", "UTC", "GMT":
		return time.UTC, true
	case "EAT":
		return time.FixedZone("", 3*60*60), true
	}
	digits := strings.ReplaceAll(name[1:], ":", "")
	hours, minutes := parseDigits(digits[:2]), parseDigits(digits[2:])
	seconds := (hours*60 + minutes) * 60
	if name[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone("", seconds), hours <= 14 && minutes <= 59
}

// day gives the date in an order; false when there is no such day.
func (f dateForm) day(order DateOrder) (calendar.Date, bool) {
	month, day := f.first, f.second
	if f.swappable && order == DayFirst {
		month, day = day, month
	}
	at := time.Date(f.year, time.Month(month), day, 12, 0, 0, 0, time.UTC)
	date := calendar.On(at, time.UTC)
	return date, f.year >= 1 && date == calendar.Date{Year: f.year, Month: time.Month(month), Day: day}
}

// on gives the moment of the form on a day. Times without a zone are in the given one.
func (f dateForm) on(day calendar.Date, zone *time.Location) Moment {
	if f.zone != nil {
		zone = f.zone
	}
	if !f.timed {
		return Moment{Day: day, At: day.Start(zone)}
	}
	seconds := int(f.clock / time.Second)
	at := time.Date(day.Year, day.Month, day.Day, 0, 0, seconds, int(f.clock%time.Second), zone)
	return Moment{Day: day, At: at.UTC(), Timed: true}
}

// parseDigits reads digits that a form has found, at most nine of them; 0 for "".
func parseDigits(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
