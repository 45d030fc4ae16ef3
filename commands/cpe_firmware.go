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

// Limits of files of firmware. Source: docs/rules/cpe.md#firmware.
const (
	// MaxCpeFirmware bounds a file, in bytes.
	MaxCpeFirmware = 64 << 20
	// CpeFirmwarePerOrganization is how many files an organization has at most. It bounds their bytes, too: to 1 GiB.
	CpeFirmwarePerOrganization = 16
	// The rest bounds a file's description, in characters.
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

// CpeFirmwareUpload is a file of an organization on its way to the CPE server.
type CpeFirmwareUpload struct {
	FirmwareID id.CPEFirmware // of CpeFirmwareOf
	OrgID      id.Organization
	File       events.CpeFirmwareFile
}

// StoredAs is the name of the file at the CPE server. It has the organization, so that no other one's file is replaced,
// and the content, so that a campaign never sends other bytes than it began with.
func (c CpeFirmwareUpload) StoredAs() string {
	return fmt.Sprintf("lastmile-%s-%.16s-%s", c.OrgID, c.File.SHA256, c.File.Filename)
}

// BeginCpeFirmware takes a place for a file, before it goes to the CPE server. One that has a place keeps it. Fails:
// cpe_firmware_exists, firmware_place_taken.
type BeginCpeFirmware struct {
	CpeFirmwareUpload
	Place int // from 1 to CpeFirmwarePerOrganization
}

// RecordCpeFirmware says that the CPE server has a file. The same file again changes nothing. Fails:
// cpe_firmware_not_found when it was taken back meanwhile, cpe_firmware_exists.
type RecordCpeFirmware struct{ CpeFirmwareUpload }

// RemoveCpeFirmware takes a file back. The caller has made sure that nothing loads it. Fails: cpe_firmware_not_found.
type RemoveCpeFirmware struct{ FirmwareID id.CPEFirmware }

// SettleCpeFirmware says that the CPE server does not have a file any more that was taken back.
type SettleCpeFirmware struct{ FirmwareID id.CPEFirmware }

func (BeginCpeFirmware) CommandName() string  { return "cpe.BeginCpeFirmware" }
func (RecordCpeFirmware) CommandName() string { return "cpe.RecordCpeFirmware" }
func (RemoveCpeFirmware) CommandName() string { return "cpe.RemoveCpeFirmware" }
func (SettleCpeFirmware) CommandName() string { return "cpe.SettleCpeFirmware" }

func (c CpeFirmwareUpload) Target() Target { return At(CpeFirmwareCategory, c.FirmwareID) }
func (c RemoveCpeFirmware) Target() Target { return At(CpeFirmwareCategory, c.FirmwareID) }
func (c SettleCpeFirmware) Target() Target { return At(CpeFirmwareCategory, c.FirmwareID) }

func (BeginCpeFirmware) cpeFirmwareCommand()  {}
func (RecordCpeFirmware) cpeFirmwareCommand() {}
func (RemoveCpeFirmware) cpeFirmwareCommand() {}
func (SettleCpeFirmware) cpeFirmwareCommand() {}

// Forms of a file's description. A name is part of an address that CPEs load from, and the rest goes into headers of
// HTTP.
var (
	cpeFilename = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	cpeSigns    = regexp.MustCompile(`^[!-~]?([ -~]*[!-~])?$`)
	cpeSHA256   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Validate checks form, and that the id is that of the name.
func (c CpeFirmwareUpload) Validate() error { return c.faults().Err() }

// Validate checks form and place.
func (c BeginCpeFirmware) Validate() error {
	f := c.faults()
	f.Check(c.Place >= 1 && c.Place <= CpeFirmwarePerOrganization, "place", "must be from %d to %d", 1,
		CpeFirmwarePerOrganization)
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (RemoveCpeFirmware) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (SettleCpeFirmware) Validate() error { return nil }

// faults are those of the form.
func (c CpeFirmwareUpload) faults() *failure.Faults {
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
	return &f
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

// ErrCpeFirmwareInUse is the failure of taking a file back that a deployment needs.
func ErrCpeFirmwareInUse() error {
	return failure.NewConflict("cpe_firmware_in_use",
		"A deployment needs this file. Halt it, or wait until it has ended and no device loads the file any more.")
}

// ErrCpeFirmwareLimit is the failure of one file too many.
func ErrCpeFirmwareLimit() error {
	return failure.NewConflict("cpe_firmware_limit_reached",
		"Your organization has as many files of firmware as it may have. Delete one that is no longer used.")
}
