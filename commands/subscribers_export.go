package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ExportCategory begins the names of the streams of exports.
const ExportCategory = "export"

// ExportKept is how long a finished export can be fetched.
const ExportKept = 24 * time.Hour

// ExportCommand is a command to "export-<id>".
//
//sumtype:decl
type ExportCommand interface {
	Command
	exportCommand()
}

// AskExport asks for a copy of all that the organization has. A known id changes nothing.
type AskExport struct {
	ExportID id.Export
	OrgID    id.Organization
}

// FinishExport records that the copy is in the vault, once. Fails: export_not_found.
type FinishExport struct {
	ExportID id.Export
	Parts    int
	Bytes    int64
	EndsAt   time.Time
}

// FailExport ends an export that could not be made. One that was made changes nothing. Fails: export_not_found.
type FailExport struct {
	ExportID id.Export
	Code     string // of the last failure; "" = none is known
}

// FetchExport records that the caller is about to be given the copy. Fails: export_not_found, export_not_ready,
// export_failed, export_ended.
type FetchExport struct {
	ExportID id.Export
}

// RunExport makes the copy.
type RunExport struct {
	OrgID    id.Organization `json:"orgId"`
	ExportID id.Export       `json:"exportId"`
	Position uint64          `json:"position"` // of the event; read models must have reached it
}

// Kind is the durable name of the job.
func (RunExport) Kind() string { return "subscribers_export" }

func (AskExport) CommandName() string    { return "subscribers.AskExport" }
func (FinishExport) CommandName() string { return "subscribers.FinishExport" }
func (FetchExport) CommandName() string  { return "subscribers.FetchExport" }
func (FailExport) CommandName() string   { return "subscribers.FailExport" }
func (AskExport) exportCommand()         {}
func (FailExport) exportCommand()        {}
func (FinishExport) exportCommand()      {}
func (FetchExport) exportCommand()       {}
func (c AskExport) Target() Target       { return At(ExportCategory, c.ExportID) }
func (c FinishExport) Target() Target    { return At(ExportCategory, c.ExportID) }
func (c FailExport) Target() Target      { return At(ExportCategory, c.ExportID) }
func (c FetchExport) Target() Target     { return At(ExportCategory, c.ExportID) }

// Validate checks the form.
func (c AskExport) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	return f.Err()
}

// Validate checks the form.
func (c FinishExport) Validate() error {
	var f failure.Faults
	f.Check(c.Parts > 0 && c.Bytes > 0, "parts", "is required")
	f.Check(!c.EndsAt.IsZero(), "endsAt", "is required")
	return f.Err()
}

func (FetchExport) Validate() error { return nil }
func (FailExport) Validate() error  { return nil }

// ErrNoExport is the failure for an export that does not exist or belongs to another organization.
func ErrNoExport() error {
	return failure.NewNotFound("export_not_found", "There is no such export.")
}
