package commands

import (
	"slices"
	"strconv"
	"time"

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
	// ImportStalled is how long an import may record nothing before the same file makes it begin again: parts take
	// seconds, and what is begun beside one that waits for a database makes nothing twice.
	ImportStalled = time.Hour
)

// ImportFile is where the rows of a round of an import are kept.
func ImportFile(of id.Import, round int) id.File {
	if round == 0 {
		return id.File(of)
	}
	return id.Derive[id.File]("import_round", of.String(), strconv.Itoa(round))
}

// ImportAskFile is where an import is kept that waits for a second person, beside its rows.
func ImportAskFile(of id.Import) id.File { return id.Derive[id.File]("import_ask", of.String()) }

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
	Skipped  int
	Failed   int
	Faults   []events.ImportFault
}

// AskImportAgain begins an import whose file was sent again anew, unless nothing of it was lost: see ImportStalled. Its
// parts must be in the vault already, under the id of its round. Fails: import_not_found.
type AskImportAgain struct {
	AskImport
	Round int // the one that begins; another than the next changes nothing
}

// LoseImportRows ends an import whose rows are no longer kept; those that wait count as failed. Fails:
// import_not_found.
type LoseImportRows struct {
	ImportID id.Import
	Round    int // another one than the present changes nothing
}

// RecordImportPart records what became of a part, once. Parts come in their order. Fails: not_found.
type RecordImportPart struct {
	ImportID id.Import
	Round    int // another one than the present changes nothing
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
	Round    int             `json:"round,omitempty"`
}

// Kind is the durable name of the job.
func (RunImportPart) Kind() string { return "subscribers_import_part" }

func (AskImport) CommandName() string        { return "subscribers.AskImport" }
func (RecordImportPart) CommandName() string { return "subscribers.RecordImportPart" }
func (AskImportAgain) CommandName() string   { return "subscribers.AskImportAgain" }
func (LoseImportRows) CommandName() string   { return "subscribers.LoseImportRows" }
func (AskImport) importCommand()             {}
func (AskImportAgain) importCommand()        {}
func (LoseImportRows) importCommand()        {}
func (RecordImportPart) importCommand()      {}
func (c AskImport) Target() Target           { return At(ImportCategory, c.ImportID) }
func (c LoseImportRows) Target() Target      { return At(ImportCategory, c.ImportID) }
func (c RecordImportPart) Target() Target    { return At(ImportCategory, c.ImportID) }

func (LoseImportRows) Validate() error { return nil }

// Validate checks the form.
func (c AskImport) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Source == "" || c.Source == ImportSourceRouter || slices.Contains(ImportSources, c.Source), "source",
		"is not known")
	f.Check(c.Rows > 0, "rows", "must not be empty")
	f.Check(c.Rows <= MaxImportRows, "rows", "must be at most %d", MaxImportRows)
	f.Check(c.Parts >= 0 && c.Skipped >= 0 && c.Failed >= 0 && c.Skipped+c.Failed <= c.Rows, "parts",
		"must fit the rows")
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
