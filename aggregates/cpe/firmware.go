package cpe

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// FirmwareFiles defines the files of firmware: a stream for each name in an organization, of one event.
func FirmwareFiles() aggregates.Definition[Firmware, commands.CpeFirmwareCommand, events.CpeFirmwareEvent] {
	return aggregates.Definition[Firmware, commands.CpeFirmwareCommand, events.CpeFirmwareEvent]{
		Category: commands.CpeFirmwareCategory, Missing: commands.ErrNoCpeFirmware, Evolve: evolveFirmware,
		Decide: decideFirmware, Owner: func(s Firmware) id.Organization { return s.Org },
		First:    commands.RecordCpeFirmware{},
		Commands: []commands.CpeFirmwareCommand{commands.RecordCpeFirmware{}},
	}
}

// Firmware is one file. The zero value does not exist.
type Firmware struct {
	ID       id.CPEFirmware
	Org      id.Organization
	File     events.CpeFirmwareFile
	StoredAs string
}

// evolveFirmware applies one recorded event.
func evolveFirmware(s Firmware, e events.CpeFirmwareEvent) Firmware {
	switch e := e.(type) {
	case events.CpeFirmwareStored:
		return Firmware{ID: e.FirmwareID, Org: e.OrgID, File: e.File, StoredAs: e.StoredAs}
	}
	return s
}

// Takes refuses another file under the name of one that is there: campaigns and people would mistake one for the other.
func (s Firmware) Takes(file events.CpeFirmwareFile) error {
	if !s.ID.IsZero() && s.File != file {
		return commands.ErrCpeFirmwareExists()
	}
	return nil
}

// decideFirmware records a file once.
func decideFirmware(s Firmware, c commands.CpeFirmwareCommand, now time.Time) ([]events.CpeFirmwareEvent, error) {
	switch c := c.(type) {
	case commands.RecordCpeFirmware:
		if err := s.Takes(c.File); err != nil || !s.ID.IsZero() {
			return nil, err
		}
		return []events.CpeFirmwareEvent{events.CpeFirmwareStored{
			FirmwareID: c.FirmwareID, OrgID: c.OrgID, File: c.File, StoredAs: c.StoredAs(), At: now,
		}}, nil
	}
	return nil, nil
}
