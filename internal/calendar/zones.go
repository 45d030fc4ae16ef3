package calendar

import (
	_ "embed"
	"strings"
	"sync"
	"time"
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

// loaded has the zones that were asked for by their names, since reading one takes longer than most decisions.
var loaded sync.Map

// Zone is the time zone of an IANA name. It fails for a name that this machine does not know. Safe for concurrent use.
func Zone(name string) (*time.Location, error) {
	if known, ok := loaded.Load(name); ok {
		zone, _ := known.(*time.Location)
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		loaded.Store(name, zone)
	}
	return zone, err
}

// ZoneOrUTC is the time zone of a name that was checked when it was chosen; UTC where this machine does not know it.
func ZoneOrUTC(name string) *time.Location {
	if zone, err := Zone(name); err == nil {
		return zone
	}
	return time.UTC
}
