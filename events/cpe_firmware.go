package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeFirmwareEvent is an event of "cpefirmware-<id>": a file of firmware that an organization has put on the CPE
// server. No event has its bytes.
//
//sumtype:decl
type CpeFirmwareEvent interface {
	Event
	cpeFirmwareEvent()
}

// CpeFirmwareFile says what a file of firmware is, and for which CPEs.
type CpeFirmwareFile struct {
	Filename     string `json:"filename"`
	OUI          string `json:"oui"` // in capitals
	ProductClass string `json:"productClass"`
	Version      string `json:"version"` // as a CPE that runs it tells
	Bytes        int64  `json:"bytes"`
	SHA256       string `json:"sha256"` // in hexadecimal digits
}

// CpeFirmwareBegun records that a file is on its way to the CPE server, and has a place there.
type CpeFirmwareBegun struct {
	FirmwareID id.CPEFirmware  `json:"firmwareId"`
	OrgID      id.Organization `json:"orgId"`
	File       CpeFirmwareFile `json:"file"`
	StoredAs   string          `json:"storedAs"` // the name by which CPEs fetch it
	Place      int             `json:"place"`    // among those of the organization
	At         time.Time       `json:"at"`
}

// CpeFirmwareStored records that the CPE server has a file.
type CpeFirmwareStored struct {
	FirmwareID id.CPEFirmware  `json:"firmwareId"`
	OrgID      id.Organization `json:"orgId"`
	File       CpeFirmwareFile `json:"file"`
	StoredAs   string          `json:"storedAs"` // the name by which CPEs fetch it
	At         time.Time       `json:"at"`
}

// CpeFirmwareRemoved records that a person took a file back. The CPE server may still have it.
type CpeFirmwareRemoved struct {
	FirmwareID id.CPEFirmware  `json:"firmwareId"`
	OrgID      id.Organization `json:"orgId"`
	StoredAs   string          `json:"storedAs"`
	At         time.Time       `json:"at"`
}

// CpeFirmwareDeleted records that the CPE server does not have a file any more that was taken back: its name and its
// place are free.
type CpeFirmwareDeleted struct {
	FirmwareID id.CPEFirmware  `json:"firmwareId"`
	OrgID      id.Organization `json:"orgId"`
	At         time.Time       `json:"at"`
}

func (CpeFirmwareBegun) EventType() string   { return "cpe.CpeFirmwareBegun.v1" }
func (CpeFirmwareStored) EventType() string  { return "cpe.CpeFirmwareStored.v1" }
func (CpeFirmwareRemoved) EventType() string { return "cpe.CpeFirmwareRemoved.v1" }
func (CpeFirmwareDeleted) EventType() string { return "cpe.CpeFirmwareDeleted.v1" }

func (CpeFirmwareBegun) cpeFirmwareEvent()   {}
func (CpeFirmwareStored) cpeFirmwareEvent()  {}
func (CpeFirmwareRemoved) cpeFirmwareEvent() {}
func (CpeFirmwareDeleted) cpeFirmwareEvent() {}
