package calendar

import (
	_ "embed"
	"strings"
)

// zones has the name of each zone of the database that is part of this program, one on a line. A test writes it.
//
//go:embed zones.txt
var zones string

// KnownZone reports whether a name is one of an IANA time zone or of a link to one, such as Asia/Calcutta, as IANA
// spells it. Such a name means the same on every machine. The zone files of a machine have more, such as localtime and
// right/Africa/Nairobi, and find a name in spellings that another machine does not know.
func KnownZone(name string) bool {
	return name != "" && !strings.Contains(name, "\n") && strings.Contains("\n"+zones, "\n"+name+"\n")
}
