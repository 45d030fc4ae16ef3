package cpeviews

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// shortestSerial is the length from which on the beginning of a serial number is searched for: a shorter text would
// find the boxes of a whole delivery.
const shortestSerial = 4

// Serial is a text in the form in which serial numbers are compared; "" for one that is too short to be searched for.
func Serial(text string) string {
	if text = strings.ToUpper(strings.TrimSpace(text)); len(text) < shortestSerial {
		return ""
	}
	return text
}

// Found says what of a row a search has found; it is zero for one that does not fit.
func (r CPERow) Found(text string) searchterm.Match {
	serial := Serial(text)
	if upper := strings.ToUpper(r.SerialNumber); serial != "" && strings.HasPrefix(upper, serial) {
		return searchterm.Match{By: "serial", Whole: upper == serial}
	}
	return searchterm.Match{}
}
