package commands

import (
	"fmt"
	"regexp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeFirmwareCategory begins the names of the streams of firmware files.
const CpeFirmwareCategory = "cpefirmware"

// MaxCpeFirmware bounds a file of firmware, in bytes. Source: docs/rules/cpe.md#firmware.
const MaxCpeFirmware = 64 << 20

// Limits of a file's description, in characters. Source: docs/rules/cpe.md#firmware.
const (
	maxCpeFilename = 100
	maxCpeVersion  = 128
)

// CpeFirmwareCommand acts on one file of firmware.
//
//sumtype:decl
type CpeFirmwareCommand interface {
	Command
	cpeFirmwareCommand()
}

// CpeFirmwareOf is the file of an organization with a name: two organizations may have files of one name.
func CpeFirmwareOf(org id.Organization, filename string) id.CPEFirmware {
	return id.Derive[id.CPEFirmware]("cpe firmware", org.String(), filename)
}

// RecordCpeFirmware says that the CPE server has a file. The same file again changes nothing. Fails:
// cpe_firmware_exists.
type RecordCpeFirmware struct {
	FirmwareID id.CPEFirmware // of CpeFirmwareOf
	OrgID      id.Organization
	File       events.CpeFirmwareFile
}

// StoredAs is the name of the file at the CPE server. It has the organization, so that no other one's file is replaced,
// and the content, so that a campaign never sends other bytes than it began with.
func (c RecordCpeFirmware) StoredAs() string {
	return fmt.Sprintf("lastmile-%s-%.16s-%s", c.OrgID, c.File.SHA256, c.File.Filename)
}

func (RecordCpeFirmware) CommandName() string { return "cpe.RecordCpeFirmware" }

func (c RecordCpeFirmware) Target() Target { return At(CpeFirmwareCategory, c.FirmwareID) }

func (RecordCpeFirmware) cpeFirmwareCommand() {}

// Forms of a file's description. A name is part of an address that CPEs load from, and the rest goes into headers of
// HTTP.
var (
	cpeFilename = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	cpeSigns    = regexp.MustCompile(`^[!-~]?([ -~]*[!-~])?$`)
	cpeSHA256   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Validate checks form, and that the id is that of the name.
func (c RecordCpeFirmware) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(len(c.File.Filename) <= maxCpeFilename && cpeFilename.MatchString(c.File.Filename), "filename",
		"must have %d to %d letters, digits or . _ -", 1, maxCpeFilename)
	signs := func(field, text string, least, most int) {
		f.Check(len(text) >= least && len(text) <= most && cpeSigns.MatchString(text), field,
			"must have %d to %d letters, digits or signs of English", least, most)
	}
	signs("oui", c.File.OUI, 1, maxCpeOUI)
	signs("productClass", c.File.ProductClass, 0, maxCpeClass)
	signs("version", c.File.Version, 1, maxCpeVersion)
	f.Check(c.File.Bytes > 0, "data", "must not be empty")
	f.Check(c.File.Bytes <= MaxCpeFirmware, "data", "must have at most %d bytes", MaxCpeFirmware)
	f.Check(cpeSHA256.MatchString(c.File.SHA256), "sha256", "is required")
	f.Check(c.FirmwareID == CpeFirmwareOf(c.OrgID, c.File.Filename), "firmwareId", "must be an id")
	return f.Err()
}

// ErrNoCpeFirmware is the failure for an unknown file, and for that of another organization.
func ErrNoCpeFirmware() error {
	return failure.NewNotFound("cpe_firmware_not_found", "There is no such file of firmware.")
}

// ErrCpeFirmwareExists is the failure of another file under the name of one that is there.
func ErrCpeFirmwareExists() error {
	return failure.NewConflict("cpe_firmware_exists",
		"There is another file of this name, or for other devices. Please give the file a new name.")
}
