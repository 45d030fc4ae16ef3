package events

import "strconv"

// Volume writes bytes for people, such as "1.5 GB". A unit has 1000 of the one before it.
func Volume(bytes int64) string {
	const step = 1000
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	value, unit := float64(bytes), 0
	for value >= step && unit < len(units)-1 {
		value, unit = value/step, unit+1
	}
	digits := 0
	if value < 100 && unit > 0 {
		digits = 1
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + " " + units[unit]
}
