package subscriberscases

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Imports takes customers in from files of other systems. Every field is required. Safe for concurrent use.
type Imports struct {
	Bus           *bus.Bus
	Subscribers   Subscribers
	Subscriptions Subscriptions
	Files         *vault.Files
	// Key makes the id of an import of the file, under a key: the file has passwords, which nobody may find by trying.
	// The pieces together are the value.
	Key func(kind string, pieces ...[]byte) uuid.UUID
	// PersonKeys makes the keys of persons that have none, all of them in one round trip.
	PersonKeys func(ctx context.Context, persons []uuid.UUID) (map[uuid.UUID]vault.Key, error)
	// Plans lists the plans of an organization.
	Plans func(ctx context.Context, org id.Organization) ([]subscribersviews.PlanRow, error)
	// Taken finds out which values customers of an organization have already, by "column=value".
	Taken func(ctx context.Context, org id.Organization, v subscribersviews.TakenValues,
	) (map[string]subscribersviews.TakenRow, error)
	// ByPhones lists the customers of an organization who have one of the phones.
	ByPhones func(ctx context.Context, org id.Organization, phones []string) ([]subscribersviews.PhoneRow, error)
	// Served tells which of some customers of an organization have a service, or had one.
	Served func(ctx context.Context, org id.Organization, customers []id.Subscriber) (map[id.Subscriber]bool, error)
	Clock  clock.Clock
	// Logger is told of rows at which the program failed.
	Logger *slog.Logger
}

// importKept is how long the rows of an import stay that does not come to its end. One that waits for a second person
// needs them a little longer than its approval waits.
const importKept = commands.ApprovalKept + 24*time.Hour

// ImportInput is an uploaded file.
type ImportInput struct {
	Body   []byte
	Source string // one of commands.ImportSources; "" = our own columns
	// Proposal has the passwords of customers whom a router knew: a row without one has that of its username. Zero =
	// the file has all of them, and is in no connection with a router.
	Proposal id.Proposal
	Answers  ImportAnswers
}

// check refuses an unknown system, and one beside a proposal, whose table has our own columns.
func (in ImportInput) check() error {
	var f failure.Faults
	f.Check(in.Source == "" || slices.Contains(commands.ImportSources, in.Source), "source", "is not known")
	f.Check(in.Source == "" || in.Proposal.IsZero(), "source", "must be empty with a proposal")
	in.Answers.check(&f)
	return f.Err()
}

// source is that of the import's event.
func (in ImportInput) source() string {
	if !in.Proposal.IsZero() {
		return commands.ImportSourceRouter
	}
	return in.Source
}

// pieces have together everything by which one import differs from another: also how many of the same file were taken
// back before it. The file is large, and not copied.
func (in ImportInput) pieces(org id.Organization, undone int) [][]byte {
	of := in.Source
	if !in.Proposal.IsZero() {
		of = in.source() + ":" + in.Proposal.String()
	}
	of += in.Answers.piece()
	if undone > 0 {
		of += fmt.Sprintf(" after %d", undone)
	}
	return [][]byte{[]byte(org.String() + " " + of + " "), in.Body}
}

// Check tells what an import of the file would do, and changes nothing. Fails: invalid_input, proposal_not_found.
func (u Imports) Check(ctx context.Context, asked usecases.Asked, in ImportInput) (CheckedImport, error) {
	if err := in.check(); err != nil {
		return CheckedImport{}, err
	}
	out, err := u.check(ctx, asked.Org(), in, id.Import{}, func([]importRow) error { return nil })
	if err == nil {
		out.Waits, err = usecases.Needs(ctx, u.Bus, asked, events.ActImport, out.Effects.Credit)
	}
	return out, err
}

// Ask stores the rows of a file that can be taken in, sealed, and then asks for the import; the others count as failed,
// or as skipped when their customers are here already.
// The same file of an organization is the same import, so it is taken in once, whoever sends it and however often. One
// whose rows were lost begins again: what it has made is there already, and what it still makes counts again. After an
// import was taken back, its file is another one. What customers had paid ahead, all of the file together, is one act
// of who asks: above the limit it fails with a *usecases.WaitsForApproval (docs/rules/approvals.md#the-limit). Fails:
// invalid_input, import_questions_open, proposal_not_found, batch_undo_runs.
func (u Imports) Ask(ctx context.Context, asked usecases.Asked, in ImportInput) (id.Import, bus.Result, error) {
	if err := in.check(); err != nil {
		return id.Import{}, bus.Result{}, err
	}
	of, err := u.present(ctx, asked.Org(), in)
	if err != nil {
		return id.Import{}, bus.Result{}, err
	}
	meta := asked.Meta
	meta.CorrelationID = of.String()
	begun := keptImport{Ask: commands.AskImport{ImportID: of, OrgID: asked.Org(), Source: in.source(), Rows: 1}}
	state, _, err := bus.LoadOwned[subscribers.Import](ctx, u.Bus, asked.Org(), of)
	switch {
	case err == nil && state.Stalled(u.Clock.Now()):
		begun.Round = state.Round + 1
	case err == nil: // it only tells where the import is
		done, err := u.Bus.Execute(ctx, begun.Ask, meta)
		return of, done, err
	case failure.CodeOf(err) != "import_not_found":
		return id.Import{}, bus.Result{}, err
	}
	return u.begin(ctx, asked, in, begun)
}

// begin stores the rows of a file, and begins its import, or has it wait for a second person. Fails: invalid_input,
// import_questions_open, proposal_not_found.
func (u Imports) begin(
	ctx context.Context, asked usecases.Asked, in ImportInput, begun keptImport,
) (id.Import, bus.Result, error) {
	of := begun.Ask.ImportID
	approval, waits, err := usecases.WaitingOrNext(ctx, u.Bus, func(round int) id.Approval {
		return commands.ApprovalOfImport(of, round)
	})
	switch {
	case err != nil:
		return id.Import{}, bus.Result{}, err
	case waits: // its rows are kept as they were looked at
		return of, bus.Result{}, &usecases.WaitsForApproval{ApprovalID: approval}
	}
	if begun.Credit, err = u.store(ctx, in, &begun.Ask, begun.Round); err != nil {
		return id.Import{}, bus.Result{}, err
	}
	done, err := u.alone(ctx, asked, begun, approval)
	return of, done, err
}

// present is the import of a file: the first one that was not taken back. Fails: batch_undo_runs.
func (u Imports) present(ctx context.Context, org id.Organization, in ImportInput) (id.Import, error) {
	for undone := 0; ; undone++ {
		of := id.Import(u.Key("import", in.pieces(org, undone)...))
		undo, _, err := bus.LoadOwned[billing.BatchUndo](ctx, u.Bus, org, id.As[id.Batch](of))
		switch {
		case failure.KindOf(err) == failure.NotFound:
			return of, nil
		case err != nil:
			return of, err
		case undo.Running:
			return of, commands.ErrBatchUndoRuns()
		}
	}
}

// store puts the rows of a file that can be taken in into the vault, notes what it has in the command, and gives the
// credits of all of them. Fails: invalid_input, import_questions_open, proposal_not_found.
func (u Imports) store(
	ctx context.Context, in ImportInput, ask *commands.AskImport, round int,
) (money.Amount, error) {
	file := vault.File{ID: commands.ImportFile(ask.ImportID, round), OrgID: ask.OrgID}
	checked, err := u.check(ctx, ask.OrgID, in, ask.ImportID, func(rows []importRow) error {
		text, err := json.Marshal(rows)
		if err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
		ask.Parts++
		file.Ends = u.Clock.Now().Add(importKept)
		return u.Files.Put(ctx, file, ask.Parts-1, text)
	})
	if err == nil && checked.Rows == 0 {
		err = unreadable(checked)
	}
	ask.Rows, ask.Skipped, ask.Failed, ask.Faults = checked.Rows, checked.Skipped, checked.Failed, checked.Faults
	return checked.Effects.Credit, err
}

// unreadable refuses a file without a row that could be read.
func unreadable(c CheckedImport) error {
	var f failure.Faults
	for _, fault := range c.Faults {
		f.Add(cmp.Or(fault.Field, "file"), fault.Message)
	}
	if len(f) == 0 {
		f.Add("file", "has no rows")
	}
	return f.Err()
}
