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

// CpeFirmwareStored records that the CPE server has a file.
type CpeFirmwareStored struct {
	FirmwareID id.CPEFirmware  `json:"firmwareId"`
	OrgID      id.Organization `json:"orgId"`
	File       CpeFirmwareFile `json:"file"`
	StoredAs   string          `json:"storedAs"` // the name by which CPEs fetch it
	At         time.Time       `json:"at"`
}

func (CpeFirmwareStored) EventType() string { return "cpe.CpeFirmwareStored.v1" }

func (CpeFirmwareStored) cpeFirmwareEvent() {}
