package commands

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ImportCategory begins the names of the streams of imports.
const ImportCategory = "import"

// Bounds on imports.
const (
	ImportPartRows  = 500     // rows in a part
	MaxImportRows   = 400_000 // so that the stream of an import stays short
	MaxImportFaults = 1_000   // that are told of one import; further ones are counted
)

// ImportSources are the systems whose own columns are understood, beside ours.
var ImportSources = []string{"phpnuxbill", "daloradius", "radiusdesk"}

// ImportCommand is a command to "import-<id>".
//
//sumtype:decl
type ImportCommand interface {
	Command
	importCommand()
}

// AskImport begins an import, once: the same file of an organization has the same id. Its parts must be in the vault
// already.
type AskImport struct {
	ImportID id.Import
	OrgID    id.Organization
	Source   string
	Rows     int
	Parts    int
	Failed   int
	Faults   []events.ImportFault
}

// RecordImportPart records what became of a part, once. Parts come in their order. Fails: not_found.
type RecordImportPart struct {
	ImportID id.Import
	Part     int
	Created  int
	Skipped  int
	Failed   int
	Faults   []events.ImportFault
}

// RunImportPart takes the rows of a part in.
type RunImportPart struct {
	OrgID    id.Organization `json:"orgId"`
	ImportID id.Import       `json:"importId"`
	Part     int             `json:"part"`
}

// Kind is the durable name of the job.
func (RunImportPart) Kind() string { return "subscribers_import_part" }

func (AskImport) CommandName() string        { return "subscribers.AskImport" }
func (RecordImportPart) CommandName() string { return "subscribers.RecordImportPart" }
func (AskImport) importCommand()             {}
func (RecordImportPart) importCommand()      {}
func (c AskImport) Target() Target           { return At(ImportCategory, c.ImportID) }
func (c RecordImportPart) Target() Target    { return At(ImportCategory, c.ImportID) }

// Validate checks the form.
func (c AskImport) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Source == "" || c.Source == ImportSourceRouter || slices.Contains(ImportSources, c.Source), "source",
		"is not known")
	f.Check(c.Rows > 0, "rows", "must not be empty")
	f.Check(c.Rows <= MaxImportRows, "rows", "must be at most %d", MaxImportRows)
	f.Check(c.Parts >= 0 && c.Failed >= 0 && c.Failed <= c.Rows, "parts", "must fit the rows")
	return f.Err()
}

// Validate checks the form.
func (c RecordImportPart) Validate() error {
	var f failure.Faults
	f.Check(c.Part >= 0 && c.Created >= 0 && c.Skipped >= 0 && c.Failed >= 0, "part", "must not be negative")
	return f.Err()
}

// ErrNoImport is the failure for an import that does not exist or belongs to another organization.
func ErrNoImport() error {
	return failure.NewNotFound("import_not_found", "There is no such import.")
}
