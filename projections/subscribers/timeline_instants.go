package subscribersviews

import (
	"regexp"
	"time"
)

// instantMark is an instant in a summary as it is kept: RFC 3339 in braces.
var instantMark = regexp.MustCompile(`\{\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\}`)

// instant stands for an instant in a summary. It becomes words when the row is read, because they depend on the zone of
// the organization.
func instant(at time.Time) string { return "{" + at.UTC().Format(time.RFC3339) + "}" }

// Told is the summary of a row with its instants in a zone, in the form that messages have: "26 Dec 2026 22:53".
func (r TimelineRow) Told(zone *time.Location) string {
	return instantMark.ReplaceAllStringFunc(r.Summary, func(mark string) string {
		at, err := time.Parse(time.RFC3339, mark[1:len(mark)-1])
		if err != nil { // not one of ours: the name of a plan can have braces
			return mark
		}
		return at.In(zone).Format("2 Jan 2006 15:04")
	})
}
