package cpe

import (
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// FirmwareFiles defines the files of firmware: a stream for each name in an organization, which is short.
//
//	begun ──► stored ──► removed ──► deleted, and the name can begin again
//	  └────────────────────┘
func FirmwareFiles() aggregates.Definition[Firmware, commands.CpeFirmwareCommand, events.CpeFirmwareEvent] {
	return aggregates.Definition[Firmware, commands.CpeFirmwareCommand, events.CpeFirmwareEvent]{
		Category: commands.CpeFirmwareCategory, Missing: commands.ErrNoCpeFirmware, Evolve: evolveFirmware,
		Decide: decideFirmware, Owner: func(s Firmware) id.Organization { return s.Org }, Claims: claimsFirmware,
		Commands: []commands.CpeFirmwareCommand{
			commands.BeginCpeFirmware{}, commands.RecordCpeFirmware{}, commands.RemoveCpeFirmware{},
			commands.SettleCpeFirmware{},
		},
	}
}

// Firmware is one file. The zero value does not exist.
type Firmware struct {
	ID       id.CPEFirmware
	Org      id.Organization
	File     events.CpeFirmwareFile
	StoredAs string
	Place    int  // among those of the organization; 0 = it is of a time before places
	Stored   bool // the CPE server has it
	Leaving  bool // a person took it back, and the CPE server may still have it
}

// evolveFirmware applies one recorded event.
func evolveFirmware(s Firmware, e events.CpeFirmwareEvent) Firmware {
	switch e := e.(type) {
	case events.CpeFirmwareBegun:
		return Firmware{ID: e.FirmwareID, Org: e.OrgID, File: e.File, StoredAs: e.StoredAs, Place: e.Place}
	case events.CpeFirmwareStored:
		return Firmware{
			ID: e.FirmwareID, Org: e.OrgID, File: e.File, StoredAs: e.StoredAs, Place: s.Place, Stored: true,
		}
	case events.CpeFirmwareRemoved:
		s.Leaving = true
	case events.CpeFirmwareDeleted:
		return Firmware{}
	}
	return s
}

// claimsFirmware has the place among the files of the organization, until the server does not have the file any more.
func claimsFirmware(s Firmware) []commands.Claim {
	if s.Place == 0 {
		return nil
	}
	return []commands.Claim{{
		Kind: "cpe_firmware_place", Value: s.Org.String() + " " + strconv.Itoa(s.Place), Code: "firmware_place_taken",
		Message: "Another file of firmware has this place.",
	}}
}

// Takes refuses another file under the name of one that is there: campaigns and people would mistake one for the other.
// The name of one that is taken back is free when the server does not have it any more.
func (s Firmware) Takes(file events.CpeFirmwareFile) error {
	if !s.ID.IsZero() && (s.Leaving || s.File != file) {
		return commands.ErrCpeFirmwareExists()
	}
	return nil
}

// Ready reports whether a file can be deployed.
func (s Firmware) Ready() bool { return s.Stored && !s.Leaving }

// decideFirmware only dispatches.
func decideFirmware(s Firmware, c commands.CpeFirmwareCommand, now time.Time) ([]events.CpeFirmwareEvent, error) {
	switch c := c.(type) {
	case commands.BeginCpeFirmware:
		if err := s.Takes(c.File); err != nil || !s.ID.IsZero() {
			return nil, err
		}
		return []events.CpeFirmwareEvent{events.CpeFirmwareBegun{
			FirmwareID: c.FirmwareID, OrgID: c.OrgID, File: c.File, StoredAs: c.StoredAs(), Place: c.Place, At: now,
		}}, nil
	case commands.RecordCpeFirmware:
		return recordFirmware(s, c, now)
	case commands.RemoveCpeFirmware:
		if s.ID.IsZero() || s.Leaving {
			return nil, commands.ErrNoCpeFirmware()
		}
		return []events.CpeFirmwareEvent{events.CpeFirmwareRemoved{
			FirmwareID: s.ID, OrgID: s.Org, StoredAs: s.StoredAs, At: now,
		}}, nil
	case commands.SettleCpeFirmware:
		if !s.Leaving {
			return nil, nil
		}
		return []events.CpeFirmwareEvent{events.CpeFirmwareDeleted{FirmwareID: s.ID, OrgID: s.Org, At: now}}, nil
	}
	return nil, nil
}

// recordFirmware records a file once. One that was taken back while it was on its way is refused.
func recordFirmware(s Firmware, c commands.RecordCpeFirmware, now time.Time) ([]events.CpeFirmwareEvent, error) {
	if s.ID.IsZero() {
		return nil, commands.ErrNoCpeFirmware()
	}
	if err := s.Takes(c.File); err != nil || s.Stored {
		return nil, err
	}
	return []events.CpeFirmwareEvent{events.CpeFirmwareStored{
		FirmwareID: s.ID, OrgID: s.Org, File: s.File, StoredAs: s.StoredAs, At: now,
	}}, nil
}
