package subscribersapi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// Imports serves /imports.
type Imports struct {
	Cases   subscriberscases.Imports
	Imports subscribersviews.ImportsQuery
}

// importLimit is the largest file, in bytes.
const importLimit = 64 << 20

// Routes lists the endpoints of imports.
func (a Imports) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/imports/subscribers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Take customers in from a file of another system; with dryRun, tell its faults and change nothing",
			Accepts: "text/csv", BodyLimit: importLimit, Status: 202, Response: importResponse{},
			Answers: map[int]any{200: dryRunResponse{}}, Handle: a.ask,
			Query: []httpapi.Param{
				{Name: "dryRun", Type: "boolean"},
				{Name: "source", Type: "string", Enum: commands.ImportSources,
					Doc: "the system whose own columns the file has"},
				{Name: "proposal", Type: "uuid",
					Doc: "of what a router knows: rows without a password have that of their username there"},
				{Name: "columns", Type: "string",
					Doc: "answers about columns by their letters, such as C:openingBalance,F:-; - leaves one out"},
				{Name: "dateOrder", Type: "string", Enum: dateOrders, Doc: "of day and month, where no row decides"},
				{Name: "encoding", Type: "string", Enum: sheet.Encodings, Doc: "of bytes that are no UTF-8"},
				{Name: "unpaid", Type: "boolean", Doc: "customers without paid time are meant: they are offline"},
			},
			Codes: []string{"invalid_input", "import_questions_open", "proposal_not_found", "batch_undo_runs"},
		},
		{
			Method: "GET", Path: "/imports", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "List imports", Row: importResponse{}, Handle: a.list,
		},
		{
			Method: "GET", Path: "/imports/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "How far an import is, and the faults of its rows", Response: importResponse{}, Handle: a.get,
		},
	}
}

// dateOrders are the orders of day and month.
var dateOrders = []string{string(column.DayFirst), string(column.MonthFirst)}

// rowFault says what is wrong with a row; it has no value of the row.
type rowFault struct {
	Row     int     `json:"row" doc:"the header is row 1"`
	Field   string  `json:"field" doc:"our name of the column; empty: the whole row"`
	Column  *string `json:"column" doc:"what the file calls it; null: it is not known"`
	Message string  `json:"message"`
}

// columnResponse says for what a column of the file is taken.
type columnResponse struct {
	Column string  `json:"column"`
	Letter string  `json:"letter" doc:"as a spreadsheet names it"`
	Field  *string `json:"field" doc:"null: it is ignored"`
	Values int     `json:"values" doc:"rows in which it has a value"`
}

// dryRunResponse tells before what an import of the file would do (docs/rules/subscribers-import.md#import).
type dryRunResponse struct {
	Rows       int              `json:"rows" doc:"without the header and empty ones"`
	Valid      int              `json:"valid" doc:"of them, what would be taken in"`
	Skipped    int              `json:"skipped" doc:"the customer is here already"`
	Errors     []rowFault       `json:"errors" doc:"the first 1,000"`
	ErrorCount int              `json:"errorCount" doc:"of all"`
	Columns    []columnResponse `json:"columns"`
	LooksLike  *columnsOf       `json:"looksLike" doc:"whose columns the header has; null: those of the given source"`
	Credit     *httpapi.Number  `json:"credit" doc:"paid ahead, by all valid rows; null: not readable"`
	Currency   *money.Currency  `json:"currency" doc:"of credit"`
	Waits      bool             `json:"waits" doc:"so much that the import would wait for a second person"`
	Effects    importEffects    `json:"effects" doc:"what the valid rows make, in sums"`
	Questions  []importQuestion `json:"questions" doc:"to be answered by query parameters before the import"`
}

// columnsOf is a system, or this one, by whose columns a header is known.
type columnsOf string

// Texts implements httpapi.Enumerated.
func (columnsOf) Texts() []string {
	return append(slices.Clone(commands.ImportSources), subscriberscases.OwnColumns)
}

// importState makes the description list the states.
type importState string

// Texts implements httpapi.Enumerated.
func (importState) Texts() []string { return []string{stateWaiting, "queued", "running", "finished"} }

// stateWaiting is that of an import that is none yet: a second person has to agree first.
const stateWaiting = "waiting"

// importResponse is an import and its progress (docs/rules/subscribers-import.md#import).
type importResponse struct {
	ID         id.Import    `json:"id"`
	State      importState  `json:"state" doc:"waiting: for a second person; there is no such import before"`
	ApprovalID *id.Approval `json:"approvalId" doc:"for which it waits; null: for none"`
	Source     *string      `json:"source" doc:"null: our own columns"`
	Rows       int          `json:"rows"`
	Created    int          `json:"created"`
	Skipped    int          `json:"skipped" doc:"the customer was here already"`
	Failed     int          `json:"failed"`
	Errors     []rowFault   `json:"errors" doc:"the first 1,000; empty in lists"`
	AskedAt    time.Time    `json:"askedAt"`
	FinishedAt *time.Time   `json:"finishedAt"`
}

// ask checks the file, or begins the import.
func (a Imports) ask(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	dry, source := f.Bool("dryRun"), f.OneOf("source", commands.ImportSources...)
	proposal := httpapi.FilterID[id.Proposal](f, "proposal")
	in := subscriberscases.ImportInput{
		Body: c.Body(), Source: source, Proposal: proposal, Answers: readAnswers(f),
	}
	if err := f.Err(); err != nil {
		return err
	}
	if null.Zero(dry) {
		checked, err := a.Cases.Check(ctx, c.Asked(), in)
		if err != nil {
			return err
		}
		return c.Send(200, showDryRun(checked))
	}
	of, done, err := a.Cases.Ask(ctx, c.Asked(), in)
	var waits *usecases.WaitsForApproval
	if errors.As(err, &waits) {
		return c.Send(202, importResponse{
			ID: of, State: stateWaiting, ApprovalID: &waits.ApprovalID, Source: null.Of(source), Errors: []rowFault{},
			AskedAt: a.Cases.Clock.Now().UTC(),
		})
	}
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, subscribersviews.ImportsName, done.Position); err != nil {
		return err
	}
	row, err := a.Imports.Get(ctx, c.Org.ID, of)
	switch {
	case err != nil:
		return err
	case row == nil:
		return c.Send(202, httpapi.Accepted{ID: of.String(), Status: "accepted"})
	}
	return c.Send(202, showImport(*row))
}

// list answers with a page of imports.
func (a Imports) list(ctx context.Context, c *httpapi.Call) error {
	return httpapi.SendList(ctx, c, showImport, func(
		ctx context.Context, after subscribersviews.ImportKey, max int,
	) ([]subscribersviews.ImportRow, error) {
		return a.Imports.List(ctx, c.Org.ID, after, max)
	})
}

// get answers with one import.
func (a Imports) get(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Import](c, "id", commands.ErrNoImport)
	if err != nil {
		return err
	}
	row, err := a.Imports.Get(ctx, c.Org.ID, of)
	switch {
	case err != nil:
		return err
	case row == nil:
		return commands.ErrNoImport()
	}
	return c.Send(200, showImport(*row))
}

// showDryRun writes what an import would do; no list is null.
func showDryRun(in subscriberscases.CheckedImport) dryRunResponse {
	out := dryRunResponse{
		Rows: in.Rows, Valid: in.Valid, Skipped: in.Skipped, Errors: showFaults(in.Faults), ErrorCount: in.Told,
		Columns: make([]columnResponse, len(in.Columns)), LooksLike: null.Of(columnsOf(in.LooksLike)),
		Waits: in.Waits, Currency: null.Of(in.Effects.Credit.Currency), Effects: showEffects(in.Effects),
		Questions: showQuestions(in.Questions),
	}
	if out.Currency != nil {
		out.Credit = new(in.Effects.Credit.Number())
	}
	for i, c := range in.Columns {
		out.Columns[i] = columnResponse{Column: c.Column, Letter: c.Letter, Field: null.Of(c.Field), Values: c.Values}
	}
	return out
}

// showImport writes an import.
func showImport(r subscribersviews.ImportRow) importResponse {
	return importResponse{
		ID: r.ID, State: importState(r.State), Source: null.Of(r.Source), Rows: r.Rows, Created: r.Created,
		Skipped: r.Skipped, Failed: r.Failed, Errors: showFaults(r.Faults), AskedAt: r.AskedAt.UTC(),
		FinishedAt: r.FinishedAt,
	}
}

// showFaults writes faults; the list is never null.
func showFaults(list []events.ImportFault) []rowFault {
	out := make([]rowFault, len(list))
	for i, f := range list {
		out[i] = rowFault{Row: f.Row, Field: f.Field, Column: null.Of(f.Column), Message: f.Message}
	}
	return out
}
