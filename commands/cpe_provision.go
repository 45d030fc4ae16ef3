package commands

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeProvisionCategory begins the names of the streams of provisions.
const CpeProvisionCategory = "cpeprovision"

// Limits of provisions. Source: docs/rules/cpe.md#custom-provisions.
const (
	// CpeProvisionsPerOrganization is how many provisions an organization has at most.
	CpeProvisionsPerOrganization = 20
	// MaxCpeScript bounds a script, in bytes.
	MaxCpeScript = 64 << 10
	// OwnCpeProvisions begins the names of the platform's own provisions at the CPE server.
	OwnCpeProvisions = "lastmile-"
	// CpeProvisionLoops is the code of the refusal of a version that never comes to rest.
	CpeProvisionLoops = "preset_loop"
	maxCpeTag         = 128 // bytes
)

// CpeProvisionID is the id of an organization's provision of a name: written anew after a removal it goes on in its
// stream.
func CpeProvisionID(org id.Organization, name string) id.CPEProvision {
	return id.Derive[id.CPEProvision]("cpe provision", org.String(), name)
}

// StoredCpeProvision is the name of an organization's provision at the CPE server.
func StoredCpeProvision(slug, name string) string { return slug + "-" + name }

// CpeProvisionCommand acts on one provision.
//
//sumtype:decl
type CpeProvisionCommand interface {
	Command
	cpeProvisionCommand()
}

// WriteCpeProvision writes a script, or another version of it; the same one again changes nothing. The caller has
// checked the script. Fails: provision_name_taken, provision_place_taken.
type WriteCpeProvision struct {
	ProvisionID id.CPEProvision
	OrgID       id.Organization
	Name        string
	StoredName  string
	Place       int // from 1 to CpeProvisionsPerOrganization; one that has a place keeps it
	Tag         string
	Script      string
}

// RemoveCpeProvision takes a script back. Fails: provision_not_found.
type RemoveCpeProvision struct{ ProvisionID id.CPEProvision }

// SettleCpeProvision says that the CPE server is as a version wants it; that of another version changes nothing. Fails:
// provision_not_found.
type SettleCpeProvision struct {
	ProvisionID id.CPEProvision
	Version     int
}

// RefuseCpeProvision says why the CPE server does not take a version; that of another version changes nothing. Fails:
// provision_not_found.
type RefuseCpeProvision struct {
	ProvisionID id.CPEProvision
	Version     int
	Code        string
	Message     string
}

func (WriteCpeProvision) CommandName() string  { return "cpe.WriteCpeProvision" }
func (RemoveCpeProvision) CommandName() string { return "cpe.RemoveCpeProvision" }
func (SettleCpeProvision) CommandName() string { return "cpe.SettleCpeProvision" }
func (RefuseCpeProvision) CommandName() string { return "cpe.RefuseCpeProvision" }

func (c WriteCpeProvision) Target() Target  { return At(CpeProvisionCategory, c.ProvisionID) }
func (c RemoveCpeProvision) Target() Target { return At(CpeProvisionCategory, c.ProvisionID) }
func (c SettleCpeProvision) Target() Target { return At(CpeProvisionCategory, c.ProvisionID) }
func (c RefuseCpeProvision) Target() Target { return At(CpeProvisionCategory, c.ProvisionID) }

func (WriteCpeProvision) cpeProvisionCommand()  {}
func (RemoveCpeProvision) cpeProvisionCommand() {}
func (SettleCpeProvision) cpeProvisionCommand() {}
func (RefuseCpeProvision) cpeProvisionCommand() {}

// provisionName is the form of a provision's name, of which the one at the CPE server is made.
var provisionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Validate checks form.
func (c WriteCpeProvision) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero() && c.ProvisionID == CpeProvisionID(c.OrgID, c.Name), "provisionId", "must be an id")
	f.Check(provisionName.MatchString(c.Name), "name", "must have 1 to 64 letters, digits or - _")
	f.Check(strings.HasSuffix(c.StoredName, "-"+c.Name), "storedName", "is required")
	f.Check(c.Place >= 1 && c.Place <= CpeProvisionsPerOrganization, "place", "must be from %d to %d", 1,
		CpeProvisionsPerOrganization)
	f.Check(c.Tag != "" && len(c.Tag) <= maxCpeTag, "tag", "is required")
	f.Check(strings.TrimSpace(c.Script) != "", "script", "is required")
	f.Check(len(c.Script) <= MaxCpeScript, "script", "must have at most %d bytes", MaxCpeScript)
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (RemoveCpeProvision) Validate() error { return nil }

// Validate checks form.
func (c SettleCpeProvision) Validate() error {
	var f failure.Faults
	f.Check(c.Version > 0, "version", "is required")
	return f.Err()
}

// Validate checks form.
func (c RefuseCpeProvision) Validate() error {
	var f failure.Faults
	f.Check(c.Version > 0, "version", "is required")
	cpeText(&f, "code", c.Code, 1, maxCpeFault)
	f.Check(utf8.RuneCountInString(c.Message) <= maxCpeMessage, "message", "must be at most %d characters",
		maxCpeMessage)
	return f.Err()
}

// ErrNoCpeProvision is the failure for an unknown provision, and for that of another organization.
func ErrNoCpeProvision() error {
	return failure.NewNotFound("provision_not_found", "There is no such provision.")
}

// ErrCpeProvisionTaken is the failure of a name that somebody else has at the CPE server.
func ErrCpeProvisionTaken() *failure.Error {
	return failure.NewConflict("provision_name_taken",
		"Another script has this name at the CPE server. Please choose another name.")
}
