package subscriberscases

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	Key func(kind, value string) uuid.UUID
	// PersonKeys makes the keys of persons that have none, all of them in one round trip.
	PersonKeys func(ctx context.Context, persons []uuid.UUID) (map[uuid.UUID]vault.Key, error)
	// Plans lists the plans of an organization.
	Plans func(ctx context.Context, org id.Organization) ([]subscribersviews.PlanRow, error)
	// Taken finds out which values customers of an organization have already, by "column=value".
	Taken func(ctx context.Context, org id.Organization, v subscribersviews.TakenValues,
	) (map[string]subscribersviews.TakenRow, error)
	Clock clock.Clock
}

// importKept is how long the rows of an import stay that does not come to its end.
const importKept = 7 * 24 * time.Hour

// ImportInput is an uploaded file.
type ImportInput struct {
	Body   []byte
	Source string // one of commands.ImportSources; "" = our own columns
	// Proposal has the passwords of customers whom a router knew: a row without one has that of its username. Zero =
	// the file has all of them, and is in no connection with a router.
	Proposal id.Proposal
}

// check refuses an unknown system, and one beside a proposal, whose table has our own columns.
func (in ImportInput) check() error {
	var f failure.Faults
	f.Check(in.Source == "" || slices.Contains(commands.ImportSources, in.Source), "source", "is not known")
	f.Check(in.Source == "" || in.Proposal.IsZero(), "source", "must be empty with a proposal")
	return f.Err()
}

// source is that of the import's event.
func (in ImportInput) source() string {
	if !in.Proposal.IsZero() {
		return commands.ImportSourceRouter
	}
	return in.Source
}

// text has everything by which one import differs from another.
func (in ImportInput) text(org id.Organization) string {
	of := in.Source
	if !in.Proposal.IsZero() {
		of = in.source() + ":" + in.Proposal.String()
	}
	return org.String() + " " + of + " " + string(in.Body)
}

// Check tells what an import of the file would do, and changes nothing. Fails: invalid_input, proposal_not_found.
func (u Imports) Check(ctx context.Context, asked usecases.Asked, in ImportInput) (CheckedImport, error) {
	if err := in.check(); err != nil {
		return CheckedImport{}, err
	}
	return u.check(ctx, asked.Org(), in, func([]importRow) error { return nil })
}

// Ask stores the rows of a file that can be taken in, sealed, and then asks for the import; the others count as failed.
// The same file of an organization is the same import, so it is taken in once, whoever sends it and however often.
// Fails: invalid_input, proposal_not_found.
func (u Imports) Ask(ctx context.Context, asked usecases.Asked, in ImportInput) (id.Import, bus.Result, error) {
	if err := in.check(); err != nil {
		return id.Import{}, bus.Result{}, err
	}
	of := id.Import(u.Key("import", in.text(asked.Org())))
	meta := asked.Meta
	meta.CorrelationID = of.String()
	ask := commands.AskImport{ImportID: of, OrgID: asked.Org(), Source: in.source(), Rows: 1}
	_, _, err := bus.LoadOwned[subscribers.Import](ctx, u.Bus, asked.Org(), of)
	switch {
	case err == nil: // it only tells where the import is
		done, err := u.Bus.Execute(ctx, ask, meta)
		return of, done, err
	case failure.CodeOf(err) != "import_not_found":
		return id.Import{}, bus.Result{}, err
	}
	checked, err := u.check(ctx, asked.Org(), in, func(rows []importRow) error {
		text, err := json.Marshal(rows)
		if err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
		ask.Parts++
		return u.Files.Put(ctx, vault.File{
			ID: id.File(of), OrgID: asked.Org(), Ends: u.Clock.Now().Add(importKept),
		}, ask.Parts-1, text)
	})
	if err != nil {
		return id.Import{}, bus.Result{}, err
	}
	if checked.Rows == 0 {
		return id.Import{}, bus.Result{}, unreadable(checked)
	}
	ask.Rows, ask.Failed, ask.Faults = checked.Rows, checked.Failed, checked.Faults
	done, err := u.Bus.Execute(ctx, ask, meta)
	return of, done, err
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
